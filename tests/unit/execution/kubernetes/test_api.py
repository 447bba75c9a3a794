"""The Kubernetes API: a real server that gives the answers of one, and a cluster found by files."""

import base64
import json
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

import pytest
import trustme
import yaml

from iotbench.config.options.choice import ClusterOptions
from iotbench.execution.kubernetes import api, wire
from iotbench.execution.kubernetes.api import Cluster
from iotbench.execution.kubernetes.permissions import FOR_RESOURCES, PERMISSIONS
from iotbench.execution.kubernetes.wire import Expired, NotFound, NotYet, Unreachable
from simulator.errors import BenchError, ConfigError, SetupError
from tests import ROOT

JOBS = "/apis/batch/v1/namespaces/ns/jobs"
PODS = "/api/v1/namespaces/ns/pods"
EVENTS = "/api/v1/namespaces/ns/events"
LOG = f"{PODS}/p/log"
OF_COLLECTOR = {"container": "collector", "timestamps": "true"}
NODE = "/api/v1/nodes/n"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


class Stream:
    """An answer in portions; one that is broken ends in the middle, one that hangs never."""

    def __init__(self, *portions, broken=False, hangs_s=0.0):
        self.portions = portions
        self.broken = broken
        self.hangs_s = hangs_s


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one segment for an answer, which is not held back

    def date_time_string(self, timestamp=None):
        return super().date_time_string((timestamp or time.time()) + self.server.ahead_s)

    def answer(self):
        where = urlsplit(self.path)
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(size)) if size else None
        asked = {
            "method": self.command,
            "path": where.path,
            "query": dict(parse_qsl(where.query)),
            "token": self.headers.get("Authorization"),
            "kind": self.headers.get("Content-Type"),
            "accept": self.headers.get("Accept"),
            "body": body,
        }
        self.server.asked.append(asked)
        status, content = self.server.answers.get(where.path, (404, said("there is no such thing")))
        if callable(content):
            content = content(asked)
        self.send_response(status)
        if isinstance(content, Stream):
            self.stream(content)
            return
        content = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    do_GET = do_POST = do_PATCH = do_DELETE = answer  # noqa: N815 - the library's names

    def stream(self, content):
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for portion in content.portions:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(portion), portion))
            self.wfile.flush()
            time.sleep(0.01)
        self.wfile.flush()
        self.server.over.wait(content.hangs_s)
        if content.broken:
            self.wfile.write(b"40\r\nonly a part of it")
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked = []
        self.ahead_s = 0.0
        self.answers = {}
        self.over = threading.Event()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *_):
        pass  # the client went away, as it may


def said(words):
    return {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": words}


def kubeconfig(path, url, name="c", current=True):  # noqa: FBT002
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": url}}],
        "users": [{"name": name, "user": {"token": f"token-of-{name}"}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
    }
    if current:
        content["current-context"] = name
    path.write_text(yaml.safe_dump(content))
    return path


@contextmanager
def serving(made):
    thread = threading.Thread(target=made.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.over.set()
    made.shutdown()
    thread.join()


@pytest.fixture
def server():
    with Server() as made, serving(made):
        yield made


@pytest.fixture
def cluster(server, tmp_path):
    with ExitStack() as stack:
        options = ClusterOptions(kubeconfig=kubeconfig(tmp_path / "config", server.url))
        found = Cluster(options, "ns")
        stack.callback(found._client.rest_client.pool_manager.clear)
        yield found


# --- requests -----------------------------------------------------------------------------------


def test_the_version_is_asked_for_with_the_users_token(cluster, server):
    server.answers["/version"] = 200, {"gitVersion": "v1.33.13"}

    assert cluster.version() == "v1.33.13"
    assert server.asked[0]["token"] == "Bearer token-of-c"
    assert cluster.address == server.url


LABELLED = {"items": [{"a": 1}], "metadata": {"resourceVersion": "7"}}
SLICES = [{"endpoints": [{"nodeName": "a"}]}, {"endpoints": None}, {"endpoints": [{}]}]
READS = [
    (PODS, LABELLED, lambda c: c.objects("pods", "a=b"), ([{"a": 1}], "7"), "labelSelector=a=b"),
    (EVENTS, LABELLED, lambda c: c.present("events"), "7", "limit=1"),
    ("/api/v1/pods", LABELLED, lambda c: c.pods_anywhere("a=b"), [{"a": 1}], "labelSelector=a=b"),
    (
        "/apis/discovery.k8s.io/v1/namespaces/data/endpointslices",
        {"items": SLICES},
        lambda c: c.endpoints("pg", "data"),
        [{"nodeName": "a"}, {}],
        "labelSelector=kubernetes.io/service-name=pg",
    ),
    (
        "/api/v1/nodes",
        {"items": [{"metadata": {"name": "n"}}], "metadata": {}},
        lambda c: c.nodes(),
        [{"metadata": {"name": "n"}}],
        "limit=500",
    ),
    (NODE, {"status": {}}, lambda c: c.node("n"), {"status": {}}, ""),
    ("/api/v1/namespaces/ns", {"status": {}}, lambda c: c.own_namespace(), {"status": {}}, ""),
    (LEASE, {"spec": {}}, lambda c: c.lease("n"), {"spec": {}}, ""),
    (
        f"{NODE}/proxy/stats/summary",
        {"node": {}},
        lambda c: c.statistics("n"),
        {"node": {}},
        "only_cpu_and_memory=true",
    ),
]


@pytest.mark.parametrize("case", READS)
def test_each_read_asks_for_its_path_and_query(cluster, server, case):
    path, answer, read, found, query = case
    server.answers[path] = 200, answer

    assert read(cluster) == found
    assert "&".join("=".join(each) for each in server.asked[0]["query"].items()) == query


@pytest.mark.parametrize("items", [[{"metadata": {"name": "p"}}], None])
def test_only_the_metadata_of_objects_is_asked_for(cluster, server, items):
    """Of no object, a real server returns null: Go's empty list."""
    server.answers[PODS] = 200, {"items": items, "metadata": {}}

    assert cluster.metadata("pods", "a=b") == (items or [])
    assert server.asked[0]["accept"].startswith("application/json;as=PartialObjectMetadataList")


def test_a_secret_is_sent_in_the_requests_body_only_and_belongs_to_its_job(cluster, server):
    server.answers["/api/v1/namespaces/ns/secrets"] = 201, {}
    server.answers[f"{JOBS}/j"] = 200, {"metadata": {"name": "j", "uid": "0815"}}

    cluster.create_secret("s", {"a": "b"}, {"password": "pä\n", "empty": ""}, "j")

    _, asked = server.asked
    assert asked["method"] == "POST"
    assert asked["query"] == {}
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "0815"}
    assert asked["body"]["metadata"] == {
        "name": "s",
        "labels": {"a": "b"},
        "ownerReferences": [owner],
    }
    decoded = {k: base64.b64decode(v).decode() for k, v in asked["body"]["data"].items()}
    assert decoded == {"password": "pä\n", "empty": ""}


def test_no_secret_is_made_without_the_job_that_ends_it(cluster, server):
    with pytest.raises(NotFound):
        cluster.create_secret("s", {}, {"password": "x"}, "j")

    assert [asked["method"] for asked in server.asked] == ["GET"]


def test_changes_are_merged_into_an_object(cluster, server):
    server.answers[f"{JOBS}/j"] = 200, {}

    cluster.patch("jobs", "j", {"spec": {"activeDeadlineSeconds": 9}})

    (asked,) = server.asked
    assert (asked["method"], asked["kind"]) == ("PATCH", "application/merge-patch+json")
    assert asked["body"] == {"spec": {"activeDeadlineSeconds": 9}}


def test_the_time_is_the_servers(cluster, server):
    server.answers["/version"] = 200, {"gitVersion": "v1.33.13"}
    server.ahead_s = 3600.0

    cluster.version()

    ahead = cluster.now - datetime.now(UTC)
    assert timedelta(minutes=59) < ahead < timedelta(minutes=61)


def test_an_object_is_deleted_with_what_it_owns(cluster, server):
    server.answers[f"{PODS}/p"] = 200, {}

    cluster.delete("pods", "p")
    cluster.delete("pods", "p", grace_s=0)

    cluster.delete("pods", "gone")

    first, second, _ = (asked["body"] for asked in server.asked)
    assert first["propagationPolicy"] == second["propagationPolicy"] == "Background"
    assert "gracePeriodSeconds" not in first
    assert second["gracePeriodSeconds"] == 0


def test_missing_permissions_are_reported_with_what_they_are_for(cluster, server):
    def review(asked):
        wanted = asked["body"]["spec"]["resourceAttributes"]
        refused = wanted["resource"] == "events" or wanted["verb"] == "patch"
        return {"status": {"allowed": not refused}}

    server.answers[REVIEWS] = 201, review

    missing = cluster.missing_permissions()

    patched = [permission for permission in PERMISSIONS if "patch" in permission.verbs]
    assert missing[0] == f"patch {patched[0].shown} ({patched[0].why})"
    assert missing[-1].startswith("list, watch events (")
    assert len(missing) == len(patched) + 1
    namespaces = {
        asked["body"]["spec"]["resourceAttributes"]["namespace"] for asked in server.asked
    }
    assert namespaces == {"ns"}


def test_what_resources_need_is_asked_for_in_the_whole_cluster(cluster, server):
    server.answers[REVIEWS] = 201, {"status": {"allowed": False}}

    missing = cluster.missing_permissions(FOR_RESOURCES)

    assert missing[0].startswith("get nodes/proxy (")
    asked = [asked["body"]["spec"]["resourceAttributes"] for asked in server.asked]
    assert {each["namespace"] for each in asked} == {""}
    assert (asked[0]["resource"], asked[0]["subresource"]) == ("nodes", "proxy")


# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (401, SetupError, r"does not accept these credentials \(401\); log in again"),
        (403, SetupError, r"permission denied: WORDS; deployment/rbac.yaml has the permissions"),
        (404, NotFound, "WORDS"),
        (410, Expired, "WORDS"),
        (503, SetupError, "GET /version: 503: WORDS"),
    ],
)
def test_a_refusal_is_reported_in_the_servers_words(cluster, server, status, kind, words):
    server.answers["/version"] = status, said("WORDS")

    with pytest.raises(BenchError, match=words) as error:
        cluster.version()

    assert type(error.value) is kind


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (
            'configmaps "x" is forbidden: exceeded quota: few, requested: configmaps=1',
            "have the quota raised, or remove what earlier runs left with `cleanup`",
        ),
        (
            "unable to create new content in namespace ns because it is being terminated",
            "choose another with --namespace",
        ),
        (
            'admission webhook "policy.example.com" denied the request: no label team',
            "an admission policy of the cluster refuses it",
        ),
    ],
)
def test_a_refusal_that_is_no_missing_permission_has_its_own_remedy(cluster, server, words, remedy):
    server.answers["/version"] = 403, said(words)

    with pytest.raises(SetupError) as error:
        cluster.version()

    assert str(error.value).startswith(words)
    assert remedy in str(error.value)
    assert "rbac.yaml" not in str(error.value)


@pytest.mark.parametrize("body", [b"<html>Bad Gateway</html>\n", b"\xff", b"[]"])
def test_a_refusal_of_something_before_the_server_is_reported_as_it_is(cluster, server, body):
    server.answers["/version"] = 502, body

    with pytest.raises(SetupError, match="GET /version: 502: ") as error:
        cluster.version()

    assert body.decode(errors="replace").strip() in str(error.value)


@pytest.mark.parametrize("body", [b"<html>log in</html>", b"{}"])
def test_what_answers_and_is_no_kubernetes_is_reported(cluster, server, body):
    server.answers["/version"] = 200, body

    with pytest.raises(SetupError):
        cluster.version()


def test_a_log_that_is_not_there_yet_is_not_yet_there(cluster, server):
    words = 'container "worker" in pod "p" is waiting to start: ContainerCreating'
    server.answers[LOG] = 400, said(words)

    with pytest.raises(NotYet, match="waiting to start"):
        list(cluster.log("p"))


@pytest.mark.parametrize("status", [400, 403, 404])
def test_a_logs_tail_that_cannot_be_read_is_empty(cluster, server, status):
    server.answers[LOG] = status, said("no")

    assert cluster.log_tail("p", "worker") == ""


def test_a_logs_tail_is_its_last_lines(cluster, server):
    server.answers[LOG] = 200, b"one\ntwo \xff\n\n"

    assert cluster.log_tail("p", "worker") == "one\ntwo \N{REPLACEMENT CHARACTER}"
    assert server.asked[0]["query"] == {"container": "worker", "tailLines": "20"}


# --- streams ------------------------------------------------------------------------------------


def change(kind, **more):
    return json.dumps({"type": kind, "object": more}).encode() + b"\n"


def test_a_log_is_followed_to_its_end(cluster, server):
    portions = (b"1 one\n2 tw", b"o\n3 \n4 th", "rée x\n".encode()[:2], b"\xa9e x\n")
    server.answers[LOG] = 200, Stream(*portions)

    found = [("1", "one"), ("2", "two"), ("3", ""), ("4", "thrée x")]
    assert list(cluster.log("p")) == found
    assert server.asked[0]["query"] == {"follow": "true", **OF_COLLECTOR}


def test_a_log_can_be_read_from_one_of_its_lines(cluster, server):
    server.answers[LOG] = 200, Stream()
    stamp = "2026-11-22T10:00:00.123456789Z"

    assert list(cluster.log("p", stamp)) == []
    assert list(cluster.log("p", stamp, follow=False)) == []
    followed, read = (asked["query"] for asked in server.asked)
    assert followed == {"follow": "true", "sinceTime": stamp, **OF_COLLECTOR}
    assert read == {"sinceTime": stamp, **OF_COLLECTOR}


def test_a_log_that_breaks_gives_its_lines_and_shows(cluster, server):
    server.answers[LOG] = 200, Stream(b"1 one\n2 two\n3 thr", broken=True)
    lines = []

    with pytest.raises(Unreachable, match=f"{server.url} cannot be reached: "):
        note(cluster.log("p"), lines)

    assert lines == [("1", "one"), ("2", "two")]


def note(lines, noted):
    for line in lines:
        noted.append(line)


def test_a_log_that_falls_silent_is_broken(cluster, server, monkeypatch):
    monkeypatch.setattr(api, "_LOG_READ_S", 0.3)
    server.answers[LOG] = 200, Stream(b"1 one\n", hangs_s=20)
    lines = []
    began = time.monotonic()

    with pytest.raises(Unreachable):
        note(cluster.log("p"), lines)

    assert lines == [("1", "one")]
    assert time.monotonic() - began < 5


def test_a_change_that_comes_in_pieces_is_one_change(cluster, server):
    line = change("ADDED", metadata={"name": "pä"}) + change("MODIFIED", a=1)
    server.answers[PODS] = 200, Stream(*[line[i : i + 7] for i in range(0, len(line), 7)])

    found = list(cluster.watch("pods", "a=b", "7"))

    assert found == [("ADDED", {"metadata": {"name": "pä"}}), ("MODIFIED", {"a": 1})]
    query = server.asked[0]["query"]
    assert query["labelSelector"] == "a=b"
    assert query["resourceVersion"] == "7"


def test_bookmarks_are_asked_for_and_come_as_what_they_are(cluster, server):
    bookmark = {"metadata": {"resourceVersion": "9"}}
    server.answers[EVENTS] = 200, Stream(change("BOOKMARK", **bookmark))

    assert list(cluster.watch("events", "", "7")) == [("BOOKMARK", bookmark)]
    assert server.asked[0]["query"]["allowWatchBookmarks"] == "true"
    assert "labelSelector" not in server.asked[0]["query"]


def test_a_watch_ends_by_itself_before_it_would_be_taken_for_silent(cluster, server):
    server.answers[PODS] = 200, Stream()

    assert list(cluster.watch("pods", "", "7")) == []
    assert int(server.asked[0]["query"]["timeoutSeconds"]) < wire.STREAM_READ_S


@pytest.mark.parametrize(
    "answer",
    [
        (410, said("too old resource version: 7 (9)")),
        (200, Stream(change("ERROR", code=410, message="too old resource version: 7 (9)"))),
    ],
)
def test_a_watch_from_too_long_ago_has_to_begin_again(cluster, server, answer):
    server.answers[PODS] = answer

    with pytest.raises(Expired, match="too old resource version"):
        list(cluster.watch("pods", "", "7"))


# --- nodes --------------------------------------------------------------------------------------


def test_a_node_that_is_gone_is_not_one_that_cannot_be_read(cluster, server):
    with pytest.raises(NotFound):
        cluster.node("n")
    assert cluster.lease("n") is None

    no = 403, said("no")
    server.answers |= {NODE: no, LEASE: no, "/api/v1/nodes": no}
    assert cluster.node("n") is None
    assert cluster.lease("n") is None
    assert cluster.nodes() is None


def test_a_namespace_that_does_not_exist_is_not_one_that_cannot_be_read(cluster, server):
    assert cluster.own_namespace() == {}

    server.answers["/api/v1/namespaces/ns"] = 403, said("no")
    assert cluster.own_namespace() is None


# --- a cluster that cannot be reached -----------------------------------------------------------


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def test_a_patient_request_is_repeated_until_the_server_is_back(tmp_path):
    port = free_port()
    options = ClusterOptions(kubeconfig=kubeconfig(tmp_path / "config", f"http://127.0.0.1:{port}"))
    cluster = Cluster(options, "ns").with_patience(30.0)

    class Late(ThreadingHTTPServer):
        asked, ahead_s, answers = [], 0.0, {"/version": (200, {"gitVersion": "v1"})}

    def serve():
        time.sleep(1.0)
        with Late(("127.0.0.1", port), Handler) as late:
            late.handle_request()

    thread = threading.Thread(target=serve)
    thread.start()

    assert cluster.version() == "v1"
    thread.join()


def test_a_cluster_that_is_down_is_named_at_once(tmp_path):
    url = f"http://127.0.0.1:{free_port()}"
    cluster = Cluster(ClusterOptions(kubeconfig=kubeconfig(tmp_path / "config", url)), "ns")
    began = time.monotonic()

    with pytest.raises(Unreachable, match=f"the cluster at {url} cannot be reached: .*refused"):
        cluster.version()

    assert time.monotonic() - began < 2


@pytest.fixture
def deaf():
    """The port of a server that lets nobody connect."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)  # noqa: FBT003
            with suppress(BlockingIOError):
                waiting.connect(listener.getsockname())
        yield listener.getsockname()[1]


def test_a_cluster_that_does_not_answer_is_named_after_one_attempt(tmp_path, deaf, monkeypatch):
    assert wire._CONNECT_S < 6
    monkeypatch.setattr(wire, "_CONNECT_S", 2)
    url = f"http://127.0.0.1:{deaf}"
    cluster = Cluster(ClusterOptions(kubeconfig=kubeconfig(tmp_path / "config", url)), "ns")
    began = time.monotonic()

    with pytest.raises(Unreachable, match=f"{url} cannot be reached: .*timed out.*--context"):
        cluster.version()

    assert time.monotonic() - began < 4


# --- finding the cluster ------------------------------------------------------------------------


FIND = """
import sys
from iotbench.execution.kubernetes.api import Cluster
from iotbench.config.options.choice import ClusterOptions
from simulator.errors import ConfigError
try:
    cluster = Cluster(ClusterOptions(context=(sys.argv[1:] or [None])[0]), "ns")
    print(cluster.address)
    print(*cluster._client.configuration.api_key.values())
except ConfigError as error:
    print("ConfigError:", error)
"""


def found_by_a_process(home, *context, **variables):
    """Where a new process finds the cluster: the library reads its settings when it is loaded."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("KUBE", "HOME"))}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", FIND, *context],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**kept, "HOME": str(home), **variables},
    )
    return done.stdout.splitlines() or done.stderr.splitlines()[-1:]


@pytest.fixture
def homes(tmp_path):
    """The user's own kubeconfig, and two others."""
    (tmp_path / ".kube").mkdir()
    kubeconfig(tmp_path / ".kube" / "config", "http://home", "home")
    kubeconfig(tmp_path / "one", "http://one", "one")
    kubeconfig(tmp_path / "two", "http://two", "two")
    kubeconfig(tmp_path / "three", "http://three", "three", current=False)
    return tmp_path


SEVERAL = {"KUBECONFIG": "{homes}/one:{homes}/nowhere:{homes}/three"}


@pytest.mark.parametrize(
    ("server", "context", "variables"),
    [
        ("home", "", {}),
        ("three", "three", SEVERAL),
        pytest.param("home", "", {"KUBECONFIG": ""}, marks=pytest.mark.rare),
        pytest.param("home", "", {"KUBERNETES_SERVICE_HOST": "10.1"}, marks=pytest.mark.rare),
        pytest.param("one", "", {"KUBECONFIG": "{homes}/one"}, marks=pytest.mark.rare),
        pytest.param("one", "", {"KUBECONFIG": "{homes}/one:{homes}/two"}, marks=pytest.mark.rare),
        pytest.param("one", "", SEVERAL, marks=pytest.mark.rare),
    ],
)
def test_the_cluster_is_found_as_by_kubectl(homes, server, context, variables):
    words = [context] if context else []
    given = {name: value.format(homes=homes) for name, value in variables.items()}

    found = found_by_a_process(homes, *words, **given)
    assert found == [f"http://{server}", f"Bearer token-of-{server}"]


@pytest.mark.parametrize("variables", [{}, {"KUBECONFIG": "/nowhere"}])
def test_without_any_kubeconfig_it_is_reported_how_to_name_one(tmp_path, variables):
    (reported,) = found_by_a_process(tmp_path, **variables)

    assert reported.startswith("ConfigError: no Kubernetes cluster is configured: ")
    assert "set KUBECONFIG or --kubeconfig" in reported
    assert "--runner local" in reported


def test_a_context_that_is_not_there_is_reported(server, tmp_path):
    path = kubeconfig(tmp_path / "config", server.url)

    with pytest.raises(ConfigError, match=r"no Kubernetes cluster is configured: .*nosuch"):
        Cluster(ClusterOptions(kubeconfig=path, context="nosuch"), "ns")


@pytest.mark.parametrize("content", ["", "a: b: c", "text", "clusters: []\ncontexts: []\n"])
def test_a_file_that_is_no_kubeconfig_is_reported(tmp_path, content):
    path = tmp_path / "config"
    path.write_text(content)

    with pytest.raises(ConfigError, match="no Kubernetes cluster is configured"):
        Cluster(ClusterOptions(kubeconfig=path), "ns")


def test_the_cluster_that_was_chosen_is_passed_on_to_kubectl(server, tmp_path):
    path = kubeconfig(tmp_path / "config", server.url)
    chosen = Cluster(ClusterOptions(kubeconfig=path, context="c"), "ns")

    assert chosen.flags == [f"--kubeconfig={path}", "--context=c"]


# --- certificates of a kubeconfig ---------------------------------------------------------------


@pytest.fixture
def mutual(tmp_path, monkeypatch):
    """A server that demands a client certificate, and a kubeconfig that holds it and the key."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED
    user = authority.issue_cert("user@example")
    with Server() as made:
        made.socket = context.wrap_socket(made.socket, server_side=True)
        path = kubeconfig(tmp_path / "config", f"https://127.0.0.1:{made.server_port}")
        content = yaml.safe_load(path.read_text())

        def data(blob):
            return base64.b64encode(blob.bytes()).decode()

        content["clusters"][0]["cluster"]["certificate-authority-data"] = data(authority.cert_pem)
        content["users"][0]["user"] = {
            "client-certificate-data": data(user.cert_chain_pems[0]),
            "client-key-data": data(user.private_key_pem),
        }
        path.write_text(yaml.safe_dump(content))
        made.answers["/version"] = 200, {"gitVersion": "v1.33.13"}
        with serving(made):
            yield path


def test_a_clients_key_is_on_no_disk_while_it_is_used(mutual, tmp_path):
    """The library would keep it in a file that outlives a killed process."""
    for _ in range(2):
        with_key = Cluster(ClusterOptions(kubeconfig=mutual), "ns")
        assert list((tmp_path / "tmp").iterdir()) == []
        assert with_key.version() == "v1.33.13"
        with_key._client.rest_client.pool_manager.clear()


@pytest.mark.filterwarnings("ignore::urllib3.exceptions.InsecureRequestWarning")
def test_a_server_of_another_authority_is_refused_unless_that_is_asked_for(mutual):
    content = yaml.safe_load(mutual.read_text())
    cluster = content["clusters"][0]["cluster"]
    other = trustme.CA().cert_pem.bytes()
    cluster["certificate-authority-data"] = base64.b64encode(other).decode()
    mutual.write_text(yaml.safe_dump(content))
    with pytest.raises(Unreachable, match="certificate verify failed"):
        Cluster(ClusterOptions(kubeconfig=mutual), "ns").version()

    del cluster["certificate-authority-data"]
    cluster["insecure-skip-tls-verify"] = True
    mutual.write_text(yaml.safe_dump(content))
    found = Cluster(ClusterOptions(kubeconfig=mutual), "ns")
    assert found.version() == "v1.33.13"
    found._client.rest_client.pool_manager.clear()
