"""A test suite on the local service, in Python's standard library alone.

    python3 examples/local-service.py

HOOKPROOF is the command that is started: `hookproof` by default.
"""

import json
import os
import shlex
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

FIXTURE = {"authConfigs": [{"id": "staff", "displayName": "Staff"}]}


class LocalService:
    """`hookproof service start` on a free port, with a database that goes with it."""

    def __init__(self, fixture):
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        ready, fixture_file = folder / "ready.json", folder / "fixture.yaml"
        fixture_file.write_text(json.dumps(fixture))  # JSON is YAML
        options = ["--port", "0", "--db", folder / "service.db", "--fixture", fixture_file, "--ready-file", ready]
        command = [*shlex.split(os.environ.get("HOOKPROOF", "hookproof")), "service", "start", *options]
        self._process = subprocess.Popen([*command, "--no-ui", "--quiet"], stdout=subprocess.DEVNULL)
        try:
            self._wait_for(ready)
        except BaseException:
            self.stop()
            raise
        addresses = json.loads(ready.read_text())
        self.url = addresses["url"]
        self.client_id = addresses["clientId"]
        self.client_secret = Path(addresses["clientSecretFile"]).read_text().strip()
        self._control_token = Path(addresses["controlTokenFile"]).read_text().strip()

    def _wait_for(self, ready):
        until = time.monotonic() + 30
        while not ready.exists():
            if self._process.poll() is not None or time.monotonic() > until:
                raise RuntimeError("the service has not started")
            time.sleep(0.02)

    def control(self, method, path, body=None):
        """The remote control: faults, clock, reset, snapshots, journal."""
        return send(method, f"{self.url}/local/v1/{path}", self._control_token, body)

    def stop(self):
        self._process.terminate()
        self._process.wait()
        self._folder.cleanup()


def send(method, url, token, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method)) as answer:
        return json.load(answer)


class StaffDirectory:
    """The code under test: it gets a token, and tries again while the service is unavailable."""

    def __init__(self, url, client_id, client_secret):
        self._url = url
        client = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": client_secret}
        with urllib.request.urlopen(f"{url}/auth/v1/token", urllib.parse.urlencode(client).encode()) as answer:
            self._token = json.load(answer)["access_token"]

    def name_of(self, auth_config):
        for _ in range(3):
            try:
                answer = send("GET", f"{self._url}/api/v1/auth-configs/{auth_config}", self._token)
                return answer["authConfig"]["displayName"]
            except urllib.error.HTTPError as error:
                error.close()
                if error.code != 503:
                    raise
        raise RuntimeError("the service is unavailable")


class StaffDirectoryTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = LocalService(FIXTURE)
        cls.addClassCleanup(cls.service.stop)

    def setUp(self):
        self.service.control("POST", "reset")
        self.directory = StaffDirectory(self.service.url, self.service.client_id, self.service.client_secret)

    def requests(self):
        return self.service.control("POST", "journal/search", {"operation": "getAuthConfig"})["count"]

    def test_reads_a_name(self):
        self.assertEqual(self.directory.name_of("staff"), "Staff")
        self.assertEqual(self.requests(), 1)

    def test_survives_an_outage(self):
        self.service.control("PUT", "faults/getAuthConfig", {"status": 503, "times": 2})
        self.assertEqual(self.directory.name_of("staff"), "Staff")
        self.assertEqual(self.requests(), 3)

    def test_gives_up_at_last(self):
        self.service.control("PUT", "faults/getAuthConfig", {"status": 503})
        with self.assertRaises(RuntimeError):
            self.directory.name_of("staff")
        self.assertEqual(self.requests(), 3)


if __name__ == "__main__":
    unittest.main()
