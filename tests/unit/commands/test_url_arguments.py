"""A credential in a URL is not printed, whatever option has it and whatever refuses it."""

import io
import sys

import pytest

from iotbench.commands.main import _run
from iotbench.machine.streams import guard_streams

SECRETS = ("SeKretT0ken1", "pAssw0rdX9")
URLS = {
    "token": "https://user@host/file?token=SeKretT0ken1",
    "password": "HTTPS://user:pAssw0rdX9@host/file.csv",
    "pattern": "https://u:pAssw0rdX9@host/*.csv?sig=SeKretT0ken1&x=1",
    "fragment": "http://[::1/x#access_token=SeKretT0ken1",
    "object": "s3://key:pAssw0rdX9@bucket/a.csv?X-Amz-Signature=SeKretT0ken1",
    "no scheme": "//user:pAssw0rdX9@host/x?token=SeKretT0ken1",
    "driver": "jdbc:postgresql://host/db?user=a&password=pAssw0rdX9",
}
WORDS = [
    "insert -t sqlite --data {}",
    "insert -t sqlite --config {}",
    "insert -t sqlite --workload {}",
    "insert -t sqlite --num-inserts 10 --metrics-out {}",
    "insert -t sqlite --num-inserts 10 --output {} --dry-run",
    "insert -t sqlite --num-inserts 10 --tag {}",
    "insert -t sqlite --num-inserts 10 --before-run {} --dry-run",
    "insert -t sqlite --rate {}",
    "insert -t {} --num-inserts 10",
    "query -t sqlite --queries {}",
    "generate --manifest {}",
    "reproduce {}",
    "show {}",
    "compare {} {}",
    "history --output {}",
    "results copy {} {}",
    "run {}",
    "{}",
]


@pytest.mark.parametrize("url", URLS.values(), ids=URLS)
@pytest.mark.parametrize("words", WORDS)
def test_no_message_prints_a_credential_of_a_url(words, url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = [io.StringIO(), io.StringIO()]
    monkeypatch.setattr(sys, "argv", ["run.py", *(word.format(url) for word in words.split())])
    monkeypatch.setattr(sys, "stdout", printed[0])
    monkeypatch.setattr(sys, "stderr", printed[1])
    guard_streams()

    _run()

    text = "".join(each.getvalue() for each in printed)
    assert text
    assert not [secret for secret in SECRETS if secret.lower() in text.lower()]
