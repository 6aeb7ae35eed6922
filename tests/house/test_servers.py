"""The fixtures themselves: real servers, and a database of this run's own."""


def test_redis_answers(redis):
    assert redis.ping()


def test_postgres_answers_from_a_database_of_this_run(sql):
    name = sql.execute("SELECT current_database()").fetchone()[0]
    assert name.startswith("snapstate_tests_")
