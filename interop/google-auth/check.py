"""Compares Pollux's requests for Google tokens with those of google-auth, for each kind of file."""

import argparse
import base64
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import urllib.parse

import google.auth
import google.auth.compute_engine
import google.auth.external_account
import google.auth.transport.requests
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
ACCOUNT = "sa@p.iam.gserviceaccount.com"
IMPERSONATION = f"/v1/projects/-/serviceAccounts/{ACCOUNT}:generateAccessToken"
METADATA = "/computeMetadata/v1/instance/service-accounts/default/token"
ANSWER = {
    "candidates": [
        {"content": {"role": "model", "parts": [{"text": "done"}]}, "finishReason": "STOP"}
    ]
}


class Provider(http.server.BaseHTTPRequestHandler):
    """Identity provider, metadata server and model; records the requests for tokens."""

    protocol_version = "HTTP/1.1"
    requests = []

    def log_message(self, *_):
        pass

    def answer(self, value, kind="application/json"):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Metadata-Flavor", "Google")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def record(self, body):
        url = urllib.parse.urlsplit(self.path)
        headers = {
            name: self.headers.get(name)
            for name in ("authorization", "metadata-flavor", "content-type")
        }
        if headers["content-type"]:
            headers["content-type"] = headers["content-type"].split(";")[0]
        query = sorted(urllib.parse.parse_qsl(url.query))
        if (headers["content-type"] or "").endswith("json"):
            content = json.loads(body)
        else:
            content = dict(urllib.parse.parse_qsl(body.decode()))
        Provider.requests.append(
            {"method": self.command, "path": url.path, "query": query, "headers": headers,
             "content": content}
        )

    def do_GET(self):
        if self.path.startswith(METADATA):
            self.record(b"")
            return self.answer({"access_token": "TOKEN", "expires_in": 3599})
        if self.path.startswith("/subject"):
            self.record(b"")
            return self.answer({"value": "SUBJECT"})
        return self.answer({"default": {}, "email": ACCOUNT, "scopes": [SCOPE]})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if "streamGenerateContent" in self.path:
            return self.answer(b"data: " + json.dumps(ANSWER).encode() + b"\n\n", "text/event-stream")
        self.record(body)
        if self.path == IMPERSONATION:
            return self.answer({"accessToken": "TOKEN", "expireTime": "2999-01-01T00:00:00Z"})
        return self.answer(
            {"access_token": "TOKEN", "expires_in": 3599, "token_type": "Bearer",
             "issued_token_type": "urn:ietf:params:oauth:token-type:access_token"}
        )


def files(base, key, subject):
    """Returns the files of credentials by name."""
    user = {
        "type": "authorized_user", "client_id": "id", "client_secret": "secret",
        "refresh_token": "refresh", "token_uri": f"{base}/token",
    }
    account = {
        "type": "service_account", "client_email": ACCOUNT, "private_key": key,
        "private_key_id": "kid", "project_id": "p", "token_uri": f"{base}/token",
    }
    external = {
        "type": "external_account", "audience": "//iam.googleapis.com/x",
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "token_url": f"{base}/sts",
    }
    text = {"file": str(subject)}
    address = {
        "url": f"{base}/subject?a=b", "headers": {"Metadata": "True"},
        "format": {"type": "json", "subject_token_field_name": "value"},
    }
    target = f"{base}{IMPERSONATION}"
    return {
        "user": user,
        "service account": account,
        "impersonated by a user": {
            "type": "impersonated_service_account", "delegates": ["d"],
            "service_account_impersonation_url": target, "source_credentials": user,
        },
        "impersonated by a service account": {
            "type": "impersonated_service_account",
            "service_account_impersonation_url": target, "source_credentials": account,
        },
        "federation, file": {**external, "credential_source": text},
        "federation, address": {**external, "credential_source": address},
        "federation, client": {
            **external, "credential_source": text, "client_id": "c i", "client_secret": "c:s",
        },
        "federation, impersonated": {
            **external, "credential_source": text, "service_account_impersonation_url": target,
            "service_account_impersonation": {"token_lifetime_seconds": 2800},
        },
        "workforce": {
            **external, "credential_source": text, "workforce_pool_user_project": "w",
            "audience": "//iam.googleapis.com/locations/global/workforcePools/p/providers/x",
        },
        "user of another provider": {
            "type": "external_account_authorized_user", "audience": "//iam.googleapis.com/x",
            "client_id": "id", "client_secret": "secret", "refresh_token": "refresh",
            "token_url": f"{base}/sts", "token_info_url": f"{base}/info",
        },
    }


def of_google_auth(base, path):
    """Gets a token as google-auth does."""
    # It would ask Google for the project's name, which no token depends on.
    google.auth.external_account.Credentials.get_project_id = lambda *_, **__: None
    credentials, _ = google.auth.load_credentials_from_file(str(path), scopes=[SCOPE])
    # The library ignores these addresses of the file.
    for one in (credentials, getattr(credentials, "_source_credentials", None)):
        if hasattr(one, "_token_uri"):
            one._token_uri = f"{base}/token"
        if hasattr(one, "_iam_endpoint_override"):
            one._iam_endpoint_override = f"{base}{IMPERSONATION}"
    credentials.refresh(google.auth.transport.requests.Request())


def of_pollux(pollux, base, variables):
    """Gets a token as Pollux does, for a request to Vertex AI."""
    with tempfile.TemporaryDirectory() as home:
        environment = {
            "HOME": home, "PATH": os.environ["PATH"], "GOOGLE_GENAI_USE_VERTEXAI": "true",
            "GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "global",
            "GOOGLE_VERTEX_BASE_URL": base, "GEMINI_CLI_TRUST_WORKSPACE": "true", **variables,
        }
        run = subprocess.run(
            [pollux, "-m", "gemini-2.5-flash", "-p", "go"], cwd=home, env=environment, timeout=60,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )
        if run.returncode != 0:
            sys.exit(f"pollux ended with {run.returncode}:\n{run.stderr}")


def recorded(work):
    """Returns the requests for tokens during some work."""
    Provider.requests.clear()
    work()
    return [dict(request) for request in Provider.requests]


def readable(request, public, name):
    """Replaces an assertion by what it says, after its signature was checked."""
    content = dict(request["content"])
    if "assertion" in content:
        message, _, signature = content.pop("assertion").rpartition(".")
        decode = lambda text: base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        public.verify(decode(signature), message.encode(), padding.PKCS1v15(), hashes.SHA256())
        header, claims = (json.loads(decode(part)) for part in message.split("."))
        content["header"], content["life"] = header, claims.pop("exp") - claims.pop("iat")
        content["claims"] = claims
    # Pollux does not ask for permissions with a user's refresh token: the user has decided them, and
    # asking for others would fail.
    if content.get("grant_type") == "refresh_token":
        content.pop("scope", None)
    # The library escapes this text once more than a form needs.
    if "options" in content:
        content["options"] = json.loads(urllib.parse.unquote(content["options"]))
    # The library repeats the default.
    if content.get("delegates") in (None, []):
        content.pop("delegates", None)
    return {**request, "content": content}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--pollux", required=True)
    arguments.add_argument("--planted", action="store_true")
    arguments = arguments.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    host = f"127.0.0.1:{server.server_port}"
    base = f"http://{host}"
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        subject = pathlib.Path(folder, "subject")
        subject.write_text("SUBJECT")
        cases = dict(files(base, pem, subject))
        cases["machine"] = None
        for name, content in cases.items():
            path = pathlib.Path(folder, "credentials.json")
            if content is None:
                # The library read the variable for this when it was loaded.
                google.auth.compute_engine._metadata._GCE_METADATA_HOST = host
                credentials = google.auth.compute_engine.Credentials(scopes=[SCOPE])
                request = google.auth.transport.requests.Request()
                library = recorded(lambda: credentials.refresh(request))
                variables = {"GCE_METADATA_HOST": host}
            else:
                path.write_text(json.dumps(content))
                library = recorded(lambda: of_google_auth(base, path))
                variables = {"GOOGLE_APPLICATION_CREDENTIALS": str(path)}
            own = recorded(lambda: of_pollux(arguments.pollux, base, variables))
            if arguments.planted and own:
                own[-1]["path"] += "x"
            public = private.public_key()
            library = [readable(request, public, name) for request in library]
            own = [readable(request, public, name) for request in own]
            same = library == own and library
            print(f"{'same' if same else 'DIFFERENT'}: {name} ({len(library)} requests)")
            if not same:
                failures.append(name)
                if not arguments.planted:
                    print(f"  google-auth: {json.dumps(library, indent=1)}")
                    print(f"  Pollux:      {json.dumps(own, indent=1)}")
    if arguments.planted:
        missed = [name for name in cases if name not in failures]
        sys.exit(f"not noticed: {missed}" if missed else 0)
    sys.exit(1 if failures else 0)


main()
