"""Admins of the fixture, and what its admin panel requests with their sessions."""

import json
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, NamedTuple

PASSWORD = "Passw0rd-of-the-lab"
# Longer than any timeout of Strapi's side, so that a response that never comes is an error here.
PATIENCE = 60
READ = "plugin::content-manager.explorer.read"


class Preview(NamedTuple):
    """The response about a preview: its URL, or the message of an error."""

    status: int
    text: str | None


class Admin:
    """A logged-in admin; with an empty token, a client that is not logged in."""

    def __init__(self, strapi: str, token: str) -> None:
        self.strapi, self.token = strapi, token

    def call(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Status and JSON; None without a body."""
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.strapi + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as response:
                status, text = response.status, response.read()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read()
        return status, json.loads(text) if text else None

    def must(self, method: str, path: str, body: object = None) -> Any:
        status, found = self.call(method, path, body)
        if not 200 <= status < 300:
            raise SystemExit(f"{method} {path}: {status} {found}")
        return found["data"]

    def preview(self, uid: str, **query: str) -> Preview:
        """As the panel requests it for a document that is open."""
        path = f"/content-manager/preview/url/{uid}?{urllib.parse.urlencode(query)}"
        status, found = self.call("GET", path)
        if status == 200:
            return Preview(status, found["data"]["url"])
        return Preview(status, found["error"]["message"] if found else None)


def super_admin(strapi: str) -> Admin:
    """The first admin, with all permissions: registered once, then logged in."""
    name = {"firstname": "Super", "lastname": "Admin"}
    login = {"email": "super@example.com", "password": PASSWORD}
    visitor = Admin(strapi, "")
    status, found = visitor.call("POST", "/admin/register-admin", name | login)
    data = found["data"] if status in (200, 201) else visitor.must("POST", "/admin/login", login)
    return Admin(strapi, data["token"])


def editor_of(admin: Admin, uid: str, fields: list[str]) -> Admin:
    """An admin with permission to read these fields of one content type, and no other."""
    role = admin.must("POST", "/admin/roles", {"name": f"reads {uid}", "description": ""})["id"]
    may = {"action": READ, "subject": uid, "properties": {"fields": fields}, "conditions": []}
    admin.must("PUT", f"/admin/roles/{role}/permissions", {"permissions": [may]})
    name = {"firstname": "One", "lastname": "Type"}
    invited = {"email": "editor@example.com", "roles": [role]}
    invitation = admin.must("POST", "/admin/users", name | invited)["registrationToken"]
    accepted = {"registrationToken": invitation, "userInfo": name | {"password": PASSWORD}}
    visitor = Admin(admin.strapi, "")
    return Admin(admin.strapi, visitor.must("POST", "/admin/register", accepted)["token"])
