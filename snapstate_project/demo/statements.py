"""Postgres multiplies: courses and outlines stand in temporary tables, and each statement makes one table of them."""

TABLES = """
    CREATE TEMPORARY TABLE demo_course (course int PRIMARY KEY, metadata bytea, terms bigint[]);
    CREATE TEMPORARY TABLE demo_step (
        course int, step int, ending text, offset_us bigint, anchor_us bigint, base_us bigint, size bigint,
        sized bigint, stored bigint, digest bytea, agent text, label text, error_type text, error_message text,
        body bytea, PRIMARY KEY (course, step, ending)
    );
    CREATE TEMPORARY TABLE demo_workflow (
        number int PRIMARY KEY, account_id uuid, workflow_id text COLLATE "C", digest bytea, course int, steps int,
        ending text, ended_us bigint, began_us bigint, stretch int, ttl_seconds int, pinned bool, archived bool,
        resumes int, id bigint, stats_id bigint
    )
"""
DROP = "DROP TABLE IF EXISTS demo_course, demo_step, demo_workflow, demo_day"

AT = "(w.began_us + {} * w.stretch / 100)"
"""A moment of the course as one of the workflow, in microseconds: also the sequence of what was saved then."""
TIME = "to_timestamp({} / 1e6)"
STEPS = """
    FROM demo_workflow w JOIN demo_step s ON s.course = w.course AND s.step <= w.steps
        AND s.ending = CASE WHEN s.step = w.steps THEN w.ending ELSE 'active' END
    WHERE w.number >= %(first)s AND w.number < %(last)s
"""
NAMED = """'{"digest":"' || encode(w.digest, 'hex') || '","generation":1,'"""
OF_STEP = """'"workflow_id":' || to_json(w.workflow_id) || ',"checkpoint_id":' ||
    to_json('cp_' || w.workflow_id || '_' || lpad(s.step::text, 3, '0')) || ',"etag":"\\"1-' || {sequence} || '-' ||
    left(encode(s.digest, 'hex'), 16) || '\\""'"""

WORKFLOWS = f"""
    INSERT INTO checkpoints_workflow (account_id, digest, workflow_id, generation, last_sequence, version,
        saved_sequence, archived_sequence, dropped_sequence, head_step, head_sequence, head_digest, head_guard, label,
        agent_id, status, metadata, metadata_terms, total_checkpoints, size_bytes, stored_bytes, ttl_seconds, pinned,
        started_at, last_activity_at, expires_at, archive_at)
    SELECT account_id, digest, workflow_id, 1, sequence, 1, sequence, 0, 0, steps, sequence, head, '', label, agent,
        ending, metadata, terms, steps, sized, stored, ttl_seconds, pinned, began, ended, expires,
        CASE WHEN NOT pinned THEN expires - %(threshold)s * interval '1 s' END
    FROM (
        SELECT w.*, s.digest AS head, s.label, s.agent, s.sized, s.stored, c.metadata, c.terms,
            {AT.format("s.offset_us")} AS sequence, {TIME.format(AT.format("f.offset_us"))} AS began,
            {TIME.format(AT.format("s.offset_us"))} AS ended,
            {TIME.format(AT.format("s.offset_us"))}
                + coalesce(w.ttl_seconds, %(default_ttl)s) * interval '1 s' AS expires
        FROM demo_workflow w JOIN demo_step s ON (s.course, s.step, s.ending) = (w.course, w.steps, w.ending)
            JOIN demo_step f ON (f.course, f.step, f.ending) = (w.course, 1, 'active')
            JOIN demo_course c ON c.course = w.course
        ORDER BY w.number
    ) AS workflow
"""  # noqa: S608
WORKFLOW_IDS = """
    UPDATE demo_workflow d SET id = w.id FROM checkpoints_workflow w
    WHERE w.account_id = d.account_id AND w.digest = d.digest
"""
CHECKPOINTS = f"""
    INSERT INTO checkpoints_checkpoint (workflow_id, sequence, step, anchor, base, created_at, generation, size_bytes,
        digest, status, guard, agent_id, label, body)
    SELECT w.id, {AT.format("s.offset_us")}, s.step, {AT.format("s.anchor_us")},
        CASE WHEN s.base_us IS NOT NULL THEN {AT.format("s.base_us")} END, {TIME.format(AT.format("s.offset_us"))}, 1,
        s.size, s.digest, s.ending, '', s.agent, s.label, s.body
    {STEPS} AND NOT w.archived ORDER BY w.id, s.step
"""

STATS = f"""
    INSERT INTO analytics_workflowstats (account_id, digest, generation, workflow_id, status, total_steps,
        total_size_bytes, first_checkpoint_at, last_checkpoint_at)
    SELECT w.account_id, w.digest, 1, w.workflow_id, w.ending, w.steps, s.sized,
        {TIME.format(AT.format("f.offset_us"))}, {TIME.format(AT.format("s.offset_us"))}
    FROM demo_workflow w JOIN demo_step s ON (s.course, s.step, s.ending) = (w.course, w.steps, w.ending)
        JOIN demo_step f ON (f.course, f.step, f.ending) = (w.course, 1, 'active')
    ORDER BY w.number
"""  # noqa: S608
STATS_IDS = """
    UPDATE demo_workflow d SET stats_id = w.id FROM analytics_workflowstats w
    WHERE w.account_id = d.account_id AND w.digest = d.digest
"""
FACTS = f"""
    INSERT INTO analytics_workflowstep (stats_id, step, created_at, size_bytes, agent_id, label)
    SELECT w.stats_id, s.step, {TIME.format(AT.format("s.offset_us"))}, s.size, s.agent, s.label
    {STEPS} ORDER BY w.stats_id, s.step
"""
ERRORS = f"""
    INSERT INTO analytics_workflowerror (stats_id, account_id, step, agent_id, error_type, error_message, created_at)
    SELECT w.stats_id, w.account_id, s.step, s.agent, s.error_type, s.error_message,
        {TIME.format(AT.format("s.offset_us"))}
    {STEPS} AND s.error_type IS NOT NULL
"""
PARTS = f"""
    INSERT INTO analytics_workflowagent (stats_id, account_id, agent_id, steps, first_at, last_at)
    SELECT w.stats_id, w.account_id, s.agent, count(*), {TIME.format(f"min{AT.format('s.offset_us')}")},
        {TIME.format(f"max{AT.format('s.offset_us')}")}
    {STEPS} GROUP BY w.stats_id, w.account_id, s.agent
"""
RESUMES = f"""
    INSERT INTO analytics_workflowresumes (stats_id, day, count)
    SELECT stats_id, ({TIME.format("w.ended_us")} AT TIME ZONE 'UTC')::date, resumes
    FROM demo_workflow w WHERE resumes > 0
"""  # noqa: S608
DAYS = f"""
    CREATE TEMPORARY TABLE demo_day AS
    SELECT account_id, day, agent, sum(steps)::bigint AS steps, sum(bytes)::bigint AS bytes,
        sum(failures)::bigint AS failures, sum(resumes)::bigint AS resumes
    FROM (
        SELECT w.account_id, ({TIME.format(AT.format("s.offset_us"))} AT TIME ZONE 'UTC')::date AS day, s.agent,
            count(*) AS steps, sum(s.size) AS bytes, count(s.error_type) AS failures, 0 AS resumes
        {STEPS} GROUP BY 1, 2, 3
        UNION ALL
        SELECT w.account_id, ({TIME.format("w.ended_us")} AT TIME ZONE 'UTC')::date, NULL, 0, 0, 0, sum(w.resumes)
        FROM demo_workflow w WHERE w.resumes > 0 GROUP BY 1, 2
    ) AS counted GROUP BY account_id, day, agent
"""  # noqa: S608
ACTIVITY = """
    INSERT INTO analytics_dailyactivity (account_id, day, checkpoints, steps, resumes, failures)
    SELECT account_id, day, sum(steps), sum(steps), sum(resumes), sum(failures) FROM demo_day GROUP BY 1, 2
"""
AGENT_DAYS = """
    INSERT INTO analytics_agentday (account_id, day, agent_id, steps)
    SELECT account_id, day, agent, steps FROM demo_day WHERE agent IS NOT NULL
"""
AGENTS = f"""
    INSERT INTO agents_agent (id, account_id, agent_id, name, description, capabilities, metadata, last_seen_at,
        created_at)
    SELECT gen_random_uuid(), account_id, agent, initcap(replace(agent, '-', ' ')), 'Made up for a demo.',
        '["' || agent || '"]', '{{}}', seen, began
    FROM (
        SELECT w.account_id, s.agent, {TIME.format(f"max{AT.format('s.offset_us')}")} AS seen,
            {TIME.format(f"min{AT.format('s.offset_us')}")} AS began
        {STEPS} GROUP BY 1, 2
    ) AS seen
"""  # noqa: S608
