"""The four people of the demo, one per role."""

PEOPLE = {
    "expert": ("expert@demo.example", "Erin Expert"),
    "lead": ("lead@demo.example", "Leo Lead"),
    "engineer": ("engineer@demo.example", "Enzo Engineer"),
    "admin": ("admin@demo.example", "Ada Admin"),
}
