"""Runs Pollux through mitmproxy, which decrypts the requests to the vendors' own addresses and passes
them on to a scripted service.

Its certificates are trusted only with its authority, from `SSL_CERT_FILE` or `NODE_EXTRA_CA_CERTS`.
Without it, and without the password of the proxy, no request may reach the service.
"""

import argparse
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "litellm"))
import upstream  # noqa: E402

# Seconds until the proxy listens, and until a run ends.
START, END = 60, 60
# Model, variable with the key, address of the vendor.
VENDORS = [
    ("openai/gpt-5", "OPENAI_API_KEY", "https://api.openai.com/"),
    ("anthropic/claude-sonnet-4-6", "ANTHROPIC_API_KEY", "https://api.anthropic.com/"),
    ("gemini-2.5-flash", "GEMINI_API_KEY", "https://generativelanguage.googleapis.com/"),
]
USER = "till:secret"
ANSWERS = [("", [("list_directory", {"dir_path": "."})]), ("Through the proxy.", [])]


class Proxy:
    """mitmdump on a free port, with an authority of its own."""

    def __init__(self, program, folder, port):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            self.port = listener.getsockname()[1]
        self.authority = pathlib.Path(folder, "mitmproxy-ca-cert.pem")
        options = ["--set", f"confdir={folder}", "--set", "connection_strategy=lazy", "--proxyauth", USER]
        for _, _, address in VENDORS:
            options += ["--map-remote", f"|{address}|http://127.0.0.1:{port}/"]
        command = [program, "--listen-host", "127.0.0.1", "--listen-port", str(self.port), *options]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + START
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                if time.monotonic() > until or self.process.poll() is not None:
                    raise SystemExit("mitmproxy: the proxy does not start") from None
                time.sleep(0.1)

    def address(self, user=USER):
        return f"http://{user}@127.0.0.1:{self.port}"

    def stop(self):
        self.process.kill()
        self.process.wait(END)


def run(pollux, vendor, prompt, **environment):
    """Runs one prompt in a fresh home and project."""
    model, key, _ = vendor
    with tempfile.TemporaryDirectory() as work:
        home, project = pathlib.Path(work, "home"), pathlib.Path(work, "project")
        home.mkdir()
        project.mkdir()
        environment |= {
            "HOME": str(home), "PATH": os.environ["PATH"], "NO_COLOR": "1", "POLLUX_LOCAL_PORTS": "",
            "POLLUX_RETRY_BASE_MS": "10", key: "x",
        }
        return subprocess.run(
            [pollux, "--skip-trust", "-m", model, "-p", prompt], cwd=project, env=environment,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=END, check=False,
        )


def cases(proxy, other):
    """Returns the environments with the texts that their errors contain; None if a run succeeds."""
    trusted = str(proxy.authority)
    return [
        ("SSL_CERT_FILE", {"HTTPS_PROXY": proxy.address(), "SSL_CERT_FILE": trusted}, None),
        ("NODE_EXTRA_CA_CERTS", {"HTTPS_PROXY": proxy.address(), "NODE_EXTRA_CA_CERTS": trusted}, None),
        ("no authority", {"HTTPS_PROXY": proxy.address()}, ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"]),
        ("another authority", {"HTTPS_PROXY": proxy.address(), "SSL_CERT_FILE": other}, ["certificate"]),
        ("a wrong password", {"HTTPS_PROXY": proxy.address("till:wrong"), "SSL_CERT_FILE": trusted}, ["proxy authorization required"]),
    ]


def check(ended, requests, expected):
    """Returns what is wrong with a run."""
    wrong = ["the password is shown"] if "till:" in ended.stdout + ended.stderr else []
    if expected is None:
        if ended.returncode != 0 or ended.stdout.strip() != ANSWERS[-1][0]:
            wrong.append(f"exit code {ended.returncode}, answer {ended.stdout!r}")
        if len(requests) != len(ANSWERS):
            wrong.append(f"{len(requests)} requests")
        return wrong
    if ended.returncode == 0 or ended.stdout or requests:
        wrong.append(f"exit code {ended.returncode}, answer {ended.stdout!r}, {len(requests)} requests")
    wrong += [f"no {text!r} in the error" for text in expected if text not in ended.stderr]
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pollux", required=True, help="program to judge")
    parser.add_argument("--mitmdump", required=True, help="program of the proxy")
    options = parser.parse_args()
    service = upstream.Upstream({})
    wrong, count = [], 0
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as elsewhere:
        proxy = Proxy(options.mitmdump, folder, service.port)
        other = Proxy(options.mitmdump, elsewhere, service.port)
        try:
            for name, environment, expected in cases(proxy, str(other.authority)):
                for vendor in VENDORS:
                    prompt = f"{name} of {vendor[0]}"
                    service.answers[prompt] = ANSWERS
                    ended = run(options.pollux, vendor, prompt, **environment)
                    count += 1
                    if found := check(ended, service.requests(prompt), expected):
                        wrong.append(f"{prompt}: {'; '.join(found)}\n{ended.stderr[-800:]}")
        finally:
            proxy.stop()
            other.stop()
            service.close()
    for line in wrong:
        print(f"mitmproxy: {line}", file=sys.stderr)
    print(f"mitmproxy: {count} runs, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
