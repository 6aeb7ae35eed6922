"""Machines that vanish without a word are noticed by both sides of a connection to Postgres within seconds."""

from django.db import connection

NOTICED_IN = {"tcp_keepalives_idle": 5, "tcp_keepalives_interval": 2, "tcp_keepalives_count": 3}


def test_postgres_asks_after_each_of_our_sessions():
    connection.close()
    with connection.cursor() as cursor:
        found = {}
        for name in NOTICED_IN:
            cursor.execute(f"SHOW {name}")
            found[name] = int(cursor.fetchone()[0])
    assert found == NOTICED_IN


def test_we_ask_after_postgres():
    connection.ensure_connection()
    asked = connection.connection.info.get_parameters()
    assert (asked["keepalives_idle"], asked["tcp_user_timeout"]) == ("5", "10000")
