"""The local service as a pytest fixture: one file, next to your tests, named in conftest.py or in a test module.

    pytest_plugins = ["pytest_local_service"]

    def test_reads_a_name(local_service):
        assert name_of(local_service.url, "staff") == "Staff"

It is started once, on a free port with a database of its own, and reset before each test. What it begins with is the
fixture `local_service_state`, which yours overrides. HOOKPROOF is the command that is started: `hookproof` by default.
"""

import json
import os
import shlex
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

import pytest

START_SECONDS = 30
STOP_SECONDS = 10


@pytest.fixture(scope="session")
def local_service_state():
    """What the service holds at the start: a fixture of Hookproof as a dict, or the path of its file."""
    return {}


@pytest.fixture(scope="session")
def running_local_service(local_service_state):
    """The service without a reset, for fixtures that live as long as the session."""
    with tempfile.TemporaryDirectory() as folder:
        service = LocalService(Path(folder), local_service_state)
        try:
            yield service
        finally:
            service.stop()


@pytest.fixture
def local_service(running_local_service):
    """The service as it was at its start: state, faults, clock and journal."""
    running_local_service.control("POST", "reset")
    return running_local_service


class LocalService:
    """`hookproof service start`, and its remote control."""

    def __init__(self, folder, state):
        ready, said = folder / "ready.json", folder / "said.txt"
        if isinstance(state, dict):
            file = folder / "fixture.yaml"
            file.write_text(json.dumps(state))  # JSON is YAML
        else:
            file = Path(state)
        options = ["--port", "0", "--db", folder / "service.db", "--fixture", file, "--ready-file", ready]
        command = [*shlex.split(os.environ.get("HOOKPROOF", "hookproof")), "service", "start", *options]
        with said.open("wb") as output:
            self._process = subprocess.Popen([*command, "--no-ui", "--quiet"], stdout=output, stderr=output)
        try:
            until = time.monotonic() + START_SECONDS
            while not ready.exists():
                if self._process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError(f"the service has not started: {said.read_text().strip()}")
                time.sleep(0.02)
        except BaseException:
            self.stop()
            raise
        addresses = json.loads(ready.read_text())
        self.url = addresses["url"]
        self.client_id = addresses["clientId"]
        self.client_secret = Path(addresses["clientSecretFile"]).read_text().strip()
        self._control_token = Path(addresses["controlTokenFile"]).read_text().strip()

    def control(self, method, path, body=None):
        """The remote control: faults, clock, reset, snapshots, journal, state."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self._control_token}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}/local/v1/{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=START_SECONDS) as answer:
            return json.load(answer)

    def fault(self, operation, **fault):
        """Lets an operation go wrong, until the next test: `fault("getAuthConfig", status=503, times=2)`."""
        self.control("PUT", f"faults/{operation}", fault)

    def requests(self, operation, **also):
        """The requests for an operation since the test began, in their order."""
        return self.control("POST", "journal/search", {"operation": operation, **also})["list"]

    def state(self):
        """What the service holds now, in the form of a fixture; secrets are hidden."""
        return self.control("POST", "state/export", {})

    def stop(self):
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
