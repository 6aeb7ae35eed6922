"""The SQL that counts. Rows travel as one JSON text: psycopg sends that faster than arrays, and it holds any text."""

HELD = """
    SELECT s.account_id, encode(s.digest, 'hex'), generation, workflow_id, status, total_steps, total_size_bytes,
        first_checkpoint_at, last_checkpoint_at, id
    FROM json_to_recordset(%s) AS k (account_id uuid, digest text)
    JOIN analytics_workflowstats s ON s.account_id = k.account_id AND s.digest = decode(k.digest, 'hex')
"""
REPLACED = """
    SELECT stats_id, step, created_at, size_bytes, agent_id
    FROM json_to_recordset(%s) AS k (stats_id bigint, step bigint) JOIN analytics_workflowstep USING (stats_id, step)
"""
PUT_STATS = """
    INSERT INTO analytics_workflowstats (account_id, digest, generation, workflow_id, status, total_steps,
        total_size_bytes, first_checkpoint_at, last_checkpoint_at)
    SELECT account_id, decode(digest, 'hex'), generation, workflow_id, status, total_steps, total_size_bytes,
        first_checkpoint_at, last_checkpoint_at
    FROM json_to_recordset(%s) AS n (account_id uuid, digest text, generation int, workflow_id text, status text,
        total_steps bigint, total_size_bytes bigint, first_checkpoint_at timestamptz, last_checkpoint_at timestamptz)
    ON CONFLICT (account_id, digest) DO UPDATE SET generation = excluded.generation,
        workflow_id = excluded.workflow_id, status = excluded.status, total_steps = excluded.total_steps,
        total_size_bytes = excluded.total_size_bytes, first_checkpoint_at = excluded.first_checkpoint_at,
        last_checkpoint_at = excluded.last_checkpoint_at
    RETURNING account_id, encode(digest, 'hex'), id
"""
PUT_STEPS = """
    INSERT INTO analytics_workflowstep (stats_id, step, created_at, size_bytes, agent_id, label)
    SELECT * FROM json_to_recordset(%s) AS n (stats_id bigint, step bigint, created_at timestamptz, size_bytes int,
        agent_id text, label text)
    ON CONFLICT (stats_id, step) DO UPDATE SET created_at = excluded.created_at, size_bytes = excluded.size_bytes,
        agent_id = excluded.agent_id, label = excluded.label
"""
PUT_ERRORS = """
    INSERT INTO analytics_workflowerror (stats_id, account_id, step, agent_id, error_type, error_message, created_at)
    SELECT * FROM json_to_recordset(%s) AS n (stats_id bigint, account_id uuid, step bigint, agent_id text,
        error_type text, error_message text, created_at timestamptz)
"""
ADD_PARTS = """
    INSERT INTO analytics_workflowagent AS w (stats_id, account_id, agent_id, steps, first_at, last_at)
    SELECT * FROM json_to_recordset(%s) AS n (stats_id bigint, account_id uuid, agent_id text, steps bigint,
        first_at timestamptz, last_at timestamptz)
    ON CONFLICT (stats_id, agent_id) DO UPDATE SET steps = w.steps + excluded.steps,
        first_at = least(w.first_at, excluded.first_at), last_at = greatest(w.last_at, excluded.last_at)
"""
ADD_RESUMES = """
    INSERT INTO analytics_workflowresumes AS r (stats_id, day, count)
    SELECT * FROM json_to_recordset(%s) AS n (stats_id bigint, day date, count bigint)
    ON CONFLICT (stats_id, day) DO UPDATE SET count = r.count + excluded.count
"""
ADD_DAYS = """
    INSERT INTO analytics_dailyactivity AS d (account_id, day, checkpoints, steps, resumes, failures)
    SELECT * FROM json_to_recordset(%s) AS n (account_id uuid, day date, checkpoints bigint, steps bigint,
        resumes bigint, failures bigint)
    ON CONFLICT (account_id, day) DO UPDATE SET checkpoints = d.checkpoints + excluded.checkpoints,
        steps = d.steps + excluded.steps, resumes = d.resumes + excluded.resumes,
        failures = d.failures + excluded.failures
"""
ADD_AGENT_DAYS = """
    INSERT INTO analytics_agentday AS d (account_id, day, agent_id, steps)
    SELECT * FROM json_to_recordset(%s) AS n (account_id uuid, day date, agent_id text, steps bigint)
    ON CONFLICT (account_id, day, agent_id) DO UPDATE SET steps = d.steps + excluded.steps
"""
DROP_AGENT_DAYS = """
    DELETE FROM analytics_agentday d
    USING json_to_recordset(%s) AS n (account_id uuid, day date, agent_id text)
    WHERE d.account_id = n.account_id AND d.day = n.day AND d.agent_id = n.agent_id AND d.steps = 0
"""
RECOUNT = """
    UPDATE analytics_workflowstats s SET total_steps = coalesce(n.steps, 0), total_size_bytes = coalesce(n.bytes, 0),
        first_checkpoint_at = coalesce(n.first, s.first_checkpoint_at),
        last_checkpoint_at = coalesce(n.last, s.last_checkpoint_at)
    FROM unnest(%(ids)s::bigint[]) AS k (stats_id) LEFT JOIN (
        SELECT stats_id, count(*) AS steps, sum(size_bytes) AS bytes, min(created_at) AS first, max(created_at) AS last
        FROM analytics_workflowstep WHERE stats_id = ANY(%(ids)s) GROUP BY stats_id
    ) AS n USING (stats_id)
    WHERE s.id = k.stats_id
"""
RECOUNT_PARTS = """
    INSERT INTO analytics_workflowagent (stats_id, account_id, agent_id, steps, first_at, last_at)
    SELECT s.id, s.account_id, p.agent_id, sum(p.steps), min(p.at), max(p.at)
    FROM (
        SELECT stats_id, agent_id, 1 AS steps, created_at AS at FROM analytics_workflowstep
        WHERE stats_id = ANY(%(ids)s)
        UNION ALL
        SELECT stats_id, agent_id, 0, created_at FROM analytics_workflowerror WHERE stats_id = ANY(%(ids)s)
    ) AS p JOIN analytics_workflowstats s ON s.id = p.stats_id
    WHERE p.agent_id IS NOT NULL GROUP BY s.id, s.account_id, p.agent_id
"""
STEPS_BY_DAY = """
    SELECT s.account_id, (w.created_at AT TIME ZONE 'UTC')::date, w.agent_id, count(*)
    FROM analytics_workflowstep w JOIN analytics_workflowstats s ON s.id = w.stats_id
    WHERE s.id = ANY(%s) GROUP BY 1, 2, 3
"""
TOUCHED = """
    SELECT id FROM analytics_workflowstats WHERE last_checkpoint_at >= %s::date::timestamp AT TIME ZONE 'UTC'
"""
