"""A credential is redacted in every form in which a driver or a server may repeat it."""

import base64
import io
import logging
import threading
import time
import traceback
from contextlib import suppress

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from simulator.modules.mongodb.database import MongodbOptions
from simulator.modules.mysql.database import MySqlOptions
from simulator.modules.postgres.driver import WireOptions
from simulator.modules.shared.conninfo import redact_address
from simulator.redaction import (
    CUT_CHARACTERS,
    WORD_CHARACTERS,
    RedactedStream,
    Redactor,
    hide_urls,
)
from tests.fuzzing import try_cases
from tests.secret_forms import FORMS

CHARACTERS = st.one_of(
    st.sampled_from("abcXYZ019 \t\n'\"\\/@:%&+=<>#?;,.-_~!$()*[]{}|^`\x00\x07\x1b\x7féüß€中😀"),
    st.characters(codec="utf-8", max_codepoint=0x1FFFF),
)
SECRETS = st.text(CHARACTERS, min_size=WORD_CHARACTERS, max_size=24).map(str.strip)
AROUND = st.text(st.sampled_from("ab:='\" \\%\n*."), max_size=6)


def is_testable(secret: str) -> bool:
    return len(secret) >= WORD_CHARACTERS and "***" not in secret and any(map(str.isalnum, secret))


@try_cases(60)
@given(secret=SECRETS, before=AROUND, after=AROUND)
@example(secret="p@ss%5Cword", before="", after="")
@example(secret="it''s \\\\ here", before="'", after="'")
@example(secret="é€😀x", before=":", after="")
def test_no_form_of_a_secret_survives(secret, before, after):
    assume(is_testable(secret))
    redact = Redactor([secret])
    for form, write in FORMS.items():
        with suppress(UnicodeEncodeError):  # not in Latin-1
            written = write(secret)
            shown = redact(before + written + after)

            # The marker and what follows it may by chance spell a form of the secret.
            assert written not in shown.replace("***", "\0"), form
            assert "***" in shown, form


@given(user=st.text(st.sampled_from("abcdefg_1"), max_size=7), secret=SECRETS)
def test_a_basic_login_in_base64_does_not_survive(user, secret):
    assume(is_testable(secret))
    login = base64.b64encode(f"{user}:{secret}".encode()).decode()

    shown = Redactor([secret])(f"Authorization: Basic {login}")

    assert shown.endswith("***")
    assert len(shown) <= len("Authorization: Basic ***") + 4 * (len(user) + 3) // 3


@given(text=st.text(max_size=200), secret=SECRETS)
def test_any_text_can_be_redacted(text, secret):
    shown = Redactor([secret])(text)

    assert secret not in shown or not is_testable(secret)


def test_a_text_without_the_secret_stays_as_it_is():
    text = "connection to server at 127.0.0.1, port 5432 failed: 100% of\\n them"

    assert Redactor(["hunter2", "x", "", " \n"])(text) == text


def test_a_short_secret_is_redacted_where_it_stands_as_a_word():
    redact = Redactor(["no"])

    assert redact("password no, 'no', no!") == "password ***, '***', ***!"
    assert redact("nobody knows") == "nobody knows"


@pytest.mark.parametrize(
    "text",
    ["\\" * 50_000, "%25" * 20_000, "?" * 50_000, "'" * 50_000, "\\n" * 25_000, "&#39;" * 10_000],
    ids=["backslashes", "percents", "question marks", "quotes", "line ends", "entities"],
)  # fmt: skip
@pytest.mark.parametrize("secret", ["\\ " * 4 + "x", "éü" * 8, "'" * 10, "%" * 10, "a'b\\c d"])
def test_no_text_takes_long(secret, text):
    redact = Redactor([secret])
    begun = time.process_time()

    redact(text)

    assert time.process_time() - begun < 2


# --- credentials that a message cuts short ---

TOKENS = st.text(st.sampled_from("abcXYZ019+/=%&\\'\"<é€"), max_size=40).map("x7".__add__)


@given(secret=TOKENS, cut=st.data())
def test_the_first_or_last_characters_of_a_secret_do_not_survive(secret, cut):
    secret += "7x"
    assume(len(secret) > CUT_CHARACTERS)
    kept = cut.draw(st.integers(CUT_CHARACTERS, len(secret)))
    redact = Redactor([secret])

    assert redact(f"password [{secret[:kept]}]") == "password [***]"
    assert redact(f"... {secret[-kept:]} is wrong") == "... *** is wrong"


@pytest.mark.parametrize("form", ["as it is", "percent, upper", "JSON", "base64", "hex"])
def test_a_secret_that_is_cut_in_half_does_not_survive_in_another_form(form):
    secret = "Zx9+Qr/%7'w\"Q\\k=<&>m4Tb2"
    written = FORMS[form](secret)
    redact = Redactor([secret])

    assert redact(f"got {written[: len(written) // 2]}") == "got ***"
    assert redact(f"got {written[len(written) // 2 :].rstrip('=')} here") == "got *** here"


def test_a_login_in_base64_that_is_cut_short_does_not_survive():
    login = base64.b64encode(b"bench:Zx9Qr7wQkm4Tb2").decode()

    shown = Redactor(["Zx9Qr7wQkm4Tb2"])(f"Authorization: Basic {login[:20]}")

    assert shown == f"Authorization: Basic {login[:8]}***"


@pytest.mark.parametrize("secret", ["password1", "iotbench_2026", "Postgres-17", "x" * 7])
def test_a_secret_that_begins_with_a_word_does_not_garble_messages(secret):
    text = "postgres: password authentication failed for user iotbench"

    assert Redactor([secret])(text) == text


@pytest.mark.parametrize(
    "public",
    ["postgresql://u:Zx9Qr7wQkm4Tb2@db.example/b", "host=db.example password=Zx9Qr7wQkm4Tb2"],
)
def test_the_public_part_of_a_connection_string_stays(public):
    options = WireOptions(connection_string=public)

    assert options.redact(f"cannot reach {public[:17]}") == f"cannot reach {public[:17]}"
    assert options.redact("not the password Zx9Qr7wQ") == "not the password ***"


# --- the log of a process ---


def test_a_redacting_stream_passes_everything_on_but_the_secret():
    written = io.StringIO()
    stream = RedactedStream(written, Redactor(["hunter2"]))

    assert stream.write("password 'hunter2'\n") == len("password 'hunter2'\n")
    stream.writelines(["hun", "ter2 again\n"])
    print("and", "hunter2", file=stream)
    stream.flush()

    assert written.getvalue() == "password '***'\n*** again\nand ***\n"
    assert stream.isatty() is False


def test_logs_and_tracebacks_through_a_redacting_stream_hold_no_secret(monkeypatch):
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", RedactedStream(written, Redactor(["hunter2"])))
    handler = logging.StreamHandler()
    handler.emit(logging.makeLogRecord({"msg": "log of hunter2"}))
    try:
        int("hunter2")
    except ValueError:
        traceback.print_exc()
    thread = threading.Thread(target=lambda: int("error of a thread: hunter2"))
    monkeypatch.setattr("threading.excepthook", threading.__excepthook__)
    thread.start()
    thread.join(10)

    text = written.getvalue()
    assert "hunter2" not in text
    for said in ("log of ***", "with base 10: '***'", "error of a thread: ***"):
        assert said in text


# --- passwords in connection strings ---


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("host=db dbname=b user=u", "host=db dbname=b user=u"),
        ("host=db password=SECRET user=u", "host=db password=*** user=u"),
        ("host=db password='SECRET' user=u", "host=db password=*** user=u"),
        ("host=db password = 'SEC\\'RET' user=u", "host=db password = *** user=u"),
        ("host=db password = SECRET user = u", "host=db password = *** user = u"),
        ("host=db password=my SECRET user=u", "host=db password=*** user=u"),
        ("host=db passwd=SECRET", "host=db passwd=***"),
        ("PWD=SECRET;host=db", "PWD=***;host=db"),
        ("Host=db;Password=SECRET;Database=b", "Host=db;Password=***;Database=b"),
        ("host=db sslpassword=SECRET", "host=db sslpassword=***"),
        ("host=db SECRET user=u", "host=db *** user=u"),
        ("SECRET", "***"),
        ("u:SECRET@db", "***"),
        ("password:SECRET host=db", "password:*** host=db"),
        ("postgresql://u@db:5432/b", "postgresql://***@db:5432/b"),
        ("postgresql://@db/b", "postgresql://@db/b"),
        ("postgresql://db/b?options=SECRET", "postgresql://db/b?options=***"),
        ("postgresql://db/b?options=-c%20x.pwd%3DSECRET", "postgresql://db/b?options=***"),
        ("postgresql://db/b?options=--a%3D1+-c+b=2", "postgresql://db/b?options=--a%3D1+-c+b=2"),
        ("host=db options=SECRET", "host=db options=***"),
        ("host=db options='-c geqo=off' user=u", "host=db options='-c geqo=off' user=u"),
        ("postgresql://h1:1,h2:2/b", "postgresql://h1:1,h2:2/b"),
        ("postgresql://[::1]:5432/b", "postgresql://[::1]:5432/b"),
        ("postgresql://u:SECRET@db/b", "postgresql://u:***@db/b"),
        ("postgresql://u:SECRET@h1:1,h2:2/b", "postgresql://u:***@h1:1,h2:2/b"),
        ("postgresql://u:SEC@RET@db/b", "postgresql://u:***@db/b"),
        ("postgresql://u:SEC/RET@db/b", "postgresql://u:***@db/b"),
        ("postgresql://u:SECRET", "postgresql://u:***"),
        ("postgresql://u:SECRET/b", "postgresql://u:***"),
        ("postgresql://h1:1,u:SECRET", "postgresql://h1:1,u:***"),
        ("postgresql://[::1]:SECRET", "postgresql://[::1]:***"),
        ("postgresql://db/b?password=SECRET&x=1", "postgresql://db/b?password=***&x=1"),
        ("jdbc:postgresql://db/b?PWD=SECRET", "jdbc:postgresql://db/b?PWD=***"),
        ("mongodb+srv://u:SECRET@db/?w=1", "mongodb+srv://u:***@db/?w=1"),
        (
            "mongodb://db/?authMechanismProperties=AWS_SESSION_TOKEN:SECRET",
            "mongodb://db/?authMechanismProperties=***",
        ),
    ],
)
def test_a_connection_string_is_shown_without_its_passwords(given, shown):
    found, passwords = redact_address(given)

    assert found == shown
    assert any("SECRET" in each or "SEC" in each for each in passwords) == ("SEC" in given)


@given(text=st.text(st.sampled_from("ab:/@=;,?&#'\\ p12[]%"), max_size=60))
def test_any_connection_string_can_be_shown(text):
    redact_address(text)
    redact_address(f"x://{text}")
    redact_address(f"password={text}")


@pytest.mark.parametrize("model", [WireOptions, MongodbOptions])
@pytest.mark.parametrize(
    "where",
    [
        "scheme://u:{}@host/db",
        "scheme://u:{}@h1:1,h2:2/db",
        "host=h passwd={} user=u",
        "PWD={};host=h",
        "scheme://u:{}",
    ],
)
@pytest.mark.parametrize("secret", ["Xq7vNw3kZp", "p%40ss/W0rd", "s3cr:t"])
def test_a_password_in_a_connection_string_is_redacted_on_its_own(model, where, secret):
    options = model(connection_string=where.format(secret))

    assert secret not in options.redact(f"no host {secret!r}, {base64.b64encode(secret.encode())}")
    assert secret not in str(options.public())
    assert secret not in repr(options)


def test_an_escaped_password_is_redacted_as_the_server_sees_it():
    options = WireOptions(connection_string="postgresql://u:sec%40ret%2Fword@h/db")

    shown = options.redact("user u, password sec@ret/word; host 'ret/word@h'")

    assert shown == "user u, password ***; host '***@h'" or "ret" not in shown


def test_options_with_equal_values_are_equal_whether_they_have_redacted_or_not():
    given = {"host": "h", "user": "u", "database": "d", "password": "x"}
    used, unused = MySqlOptions(**given), MySqlOptions(**given)

    assert used.redact("a b") == "a b"
    assert used == unused


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("curl 'http://u:p@h/x?q=1' && echo a@b", "curl 'http://***@h/x?***' && echo a@b"),
        ("git clone https://t0ken@h/r.git", "git clone https://***@h/r.git"),
        ("https:/u:p/w@h/x#part", "https:/***@h/x#***"),
        ("s3://k:p@b/x?X-Amz-Signature=s", "s3://***@b/x?***"),
        ("jdbc:postgresql://h/db?user=a&password=p", "jdbc:postgresql://h/db?***"),
        ("postgresql://anna@h/b?sslmode=require", "postgresql://anna@h/b?sslmode=require"),
        ("questdb+https://USERNAME@HOST:9000", "questdb+https://USERNAME@HOST:9000"),
        ("https://h:9000/x and /tmp/a:b@c?token=d", "https://h:9000/x and /tmp/a:b@c?token=d"),
    ],
)
def test_a_command_is_shown_without_the_credentials_of_its_urls(text, shown):
    assert hide_urls(text) == shown
