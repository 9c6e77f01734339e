"""A suite of pytest on the local service.

    pytest examples/test_staff_directory.py
"""

import json
import urllib.error
import urllib.parse
import urllib.request

import pytest

pytest_plugins = ["pytest_local_service"]


class StaffDirectory:
    """The code under test: it gets a token, and tries again while the service is unavailable."""

    def __init__(self, url, client_id, client_secret):
        self._url = f"{url}/api/v1/auth-configs"
        client = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": client_secret}
        with urllib.request.urlopen(f"{url}/auth/v1/token", urllib.parse.urlencode(client).encode()) as answer:
            self._headers = {"Authorization": f"Bearer {json.load(answer)['access_token']}"}

    def name_of(self, auth_config):
        return self._ask("GET", auth_config)["authConfig"]["displayName"]

    def remove(self, auth_config):
        self._ask("DELETE", auth_config)

    def _ask(self, method, auth_config):
        request = urllib.request.Request(f"{self._url}/{auth_config}", headers=self._headers, method=method)
        for _ in range(3):
            try:
                with urllib.request.urlopen(request) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                error.close()
                if error.code != 503:
                    raise
        raise RuntimeError("the service is unavailable")


@pytest.fixture(scope="session")
def local_service_state():
    return {"authConfigs": [{"id": "old"}, {"id": "staff", "displayName": "Staff"}]}


@pytest.fixture
def directory(local_service):
    return StaffDirectory(local_service.url, local_service.client_id, local_service.client_secret)


def test_reads_a_name(local_service, directory):
    assert directory.name_of("staff") == "Staff"
    assert len(local_service.requests("getAuthConfig")) == 1


def test_survives_an_outage(local_service, directory):
    local_service.fault("getAuthConfig", status=503, times=2)
    assert directory.name_of("staff") == "Staff"
    assert [one["status"] for one in local_service.requests("getAuthConfig")] == [503, 503, 200]


def test_removes_one_and_nothing_else(local_service, directory):
    before = local_service.state()
    directory.remove("old")
    before["authConfigs"] = [one for one in before["authConfigs"] if one["id"] != "old"]
    assert local_service.state() == before


def test_begins_as_the_others_did(local_service, directory):
    assert {one["id"] for one in local_service.state()["authConfigs"]} == {"old", "staff"}
    assert local_service.requests("getAuthConfig") == []
