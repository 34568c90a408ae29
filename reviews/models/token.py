"""What a person calls an API token of theirs; the token itself is kept by django-rest-knox, as a hash."""

from django.db import models
from knox.models import AuthToken


class TokenName(models.Model):
    """Goes with its token, when that is revoked or has run out."""

    token = models.OneToOneField(AuthToken, on_delete=models.CASCADE, related_name="named", primary_key=True)
    name = models.CharField(max_length=60)

    def __str__(self) -> str:
        return self.name
