"""Projects, the people in them, and invitations."""

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.actions.projects import change_membership, create_project, invite
from reviews.api.base import AssayView, Text, Whole, YesNo, project_for
from reviews.enums import Role, Tier
from reviews.errors import NotFound
from reviews.models import Membership, Project
from reviews.queries.listings import projects_with_role
from reviews.queries.projects import member_by_id, members, open_invitations


class ProjectOut(serializers.ModelSerializer[Project]):
    role = serializers.SerializerMethodField(help_text="What you are in this project.")

    class Meta:
        model = Project
        fields = ["slug", "name", "description", "role"]

    def get_role(self, project: Project) -> Role:
        return Role(project.own[0].role)  # type: ignore[attr-defined]


class ProjectIn(serializers.Serializer[Any]):
    name = Text(max_length=120)
    description = Text(required=False, max_length=10_000)
    slug = Text(required=False, max_length=60, help_text="The project's address; made from the name if left out.")


class Projects(AssayView):
    @extend_schema(operation_id="projects_list", tags=["projects"], responses=ProjectOut(many=True))
    def get(self, request: Request) -> Response:
        """The projects you belong to."""
        return self.page(projects_with_role(request.user), ProjectOut)

    @extend_schema(operation_id="projects_create", tags=["projects"], request=ProjectIn, responses={201: ProjectOut})
    def post(self, request: Request) -> Response:
        """Create a project, with you as its lead."""
        project = create_project(actor=request.user, **self.body(ProjectIn))
        return Response(ProjectOut(projects_with_role(request.user).get(pk=project.pk)).data, status=201)


class ProjectDetail(AssayView):
    @extend_schema(operation_id="projects_read", tags=["projects"], responses=ProjectOut)
    def get(self, request: Request, slug: str) -> Response:
        """One project."""
        project = project_for(request.user, slug)
        return Response(ProjectOut(projects_with_role(request.user).get(pk=project.pk)).data)


class MemberOut(serializers.ModelSerializer[Membership]):
    name = serializers.CharField(source="user.name")
    email = serializers.EmailField(source="user.email")
    person = serializers.IntegerField(source="user_id", help_text="As `rater_id` in agreement and standing.")

    class Meta:
        model = Membership
        fields = ["id", "person", "name", "email", "role", "tier", "simulated", "active", "credentials", "domains"]


class MemberIn(serializers.Serializer[Any]):
    role = serializers.ChoiceField(Role.choices, required=False)
    tier = serializers.ChoiceField(Tier.choices, required=False)
    active = YesNo(required=False)
    credentials = Text(required=False, max_length=200, allow_blank=True)
    domains = serializers.ListField(
        child=Text(max_length=40), required=False, help_text="Fields they know; a queue may ask for one of some."
    )


class Members(AssayView):
    @extend_schema(operation_id="members_list", tags=["people"], responses=MemberOut(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Everybody who is or was a member. For leads and admins."""
        return self.page(members(project_for(request.user, slug, "change_members")), MemberOut)


class MemberDetail(AssayView):
    @extend_schema(operation_id="members_change", tags=["people"], request=MemberIn, responses=MemberOut)
    def patch(self, request: Request, slug: str, member: int) -> Response:
        """Change a member's role, tier, credentials or fields, or switch them off or on. For leads and admins."""
        membership = member_by_id(project_for(request.user, slug, "change_members"), member)
        if membership is None:
            raise NotFound("There is no such member in this project.")
        changes = self.body(MemberIn)
        return Response(MemberOut(change_membership(actor=request.user, membership=membership, **changes)).data)


class InvitationOut(serializers.Serializer[Any]):
    role = serializers.ChoiceField(Role.choices)
    tier = serializers.ChoiceField(Tier.choices)
    note = serializers.CharField()
    expires_at = serializers.DateTimeField()


class InvitationMade(InvitationOut):
    link = serializers.URLField(help_text="Works once. It is shown here and never again.")


class InvitationIn(serializers.Serializer[Any]):
    role = serializers.ChoiceField(Role.choices)
    tier = serializers.ChoiceField(Tier.choices, required=False)
    note = Text(required=False, max_length=200)
    days = Whole(required=False, min_value=1, max_value=90, help_text="How long the link works; 14 if left out.")


class Invitations(AssayView):
    @extend_schema(operation_id="invitations_list", tags=["people"], responses=InvitationOut(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Invitations that nobody has used yet, without their links. For leads and admins."""
        return self.page(open_invitations(project_for(request.user, slug, "invite")), InvitationOut)

    @extend_schema(
        operation_id="invitations_create", tags=["people"], request=InvitationIn, responses={201: InvitationMade}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Invite somebody: the answer holds the link. For leads and admins."""
        project = project_for(request.user, slug, "invite")
        invitation, token = invite(actor=request.user, project=project, **self.body(InvitationIn))
        link = request.build_absolute_uri(reverse("reviews:join", kwargs={"token": token}))
        return Response({**InvitationOut(invitation).data, "link": link}, status=201)
