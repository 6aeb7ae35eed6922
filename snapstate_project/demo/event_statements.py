"""The events of a demo, and of them what billing and webhooks hold. They stand behind every subscriber's cursor."""

from snapstate_project.demo.statements import AT, NAMED, OF_STEP, STEPS, TIME

SEQUENCE = AT.format("s.offset_us")
EVENTS = f"""
    INSERT INTO events_event (uid, type, account_id, at, erased, data)
    SELECT uid, type, account_id, {TIME.format("at")}, false, data FROM (
        SELECT int8send({SEQUENCE} * 1000) || substring(w.digest, 1, 8) AS uid, 'checkpoint.saved' AS type,
            w.account_id, {SEQUENCE} AS at,
            {NAMED} || '"sequence":' || {SEQUENCE} || ',"step":' || s.step || ',"size_bytes":' || s.size || ',' ||
            {OF_STEP.format(sequence=SEQUENCE)} || ',"label":' || to_json(s.label) || ',"agent_id":' ||
            to_json(s.agent) || CASE WHEN s.ending <> 'active' THEN ',"status":"' || s.ending || '"' ELSE '' END ||
            CASE WHEN s.error_type IS NOT NULL THEN ',"error_type":' || to_json(s.error_type) || ',"error_message":' ||
                to_json(s.error_message) ELSE '' END || '}}' AS data
        {STEPS}
        UNION ALL
        SELECT int8send({SEQUENCE} * 1000 + 1) || substring(w.digest, 1, 8), 'workflow.' || w.ending, w.account_id,
            {SEQUENCE}, {NAMED} || '"sequence":' || {SEQUENCE} || ',"step":' || s.step || ',' ||
            {OF_STEP.format(sequence=SEQUENCE)} || ',"agent_id":' || to_json(s.agent) ||
            CASE WHEN w.ending = 'failed' THEN ',"error_type":' || to_json(s.error_type) || ',"error_message":' ||
                to_json(s.error_message) ELSE '' END || '}}'
        {STEPS} AND s.step = w.steps AND w.ending <> 'active'
        UNION ALL
        SELECT int8send({SEQUENCE} * 1000 + 2 + n) || substring(w.digest, 1, 8), 'workflow.resumed', w.account_id,
            {SEQUENCE}, {NAMED} || {OF_STEP.format(sequence=SEQUENCE)} || ',"step":' || s.step || ',"sequence":' ||
            {SEQUENCE} || ',"agent_id":' || to_json(s.agent) || '}}'
        FROM demo_workflow w JOIN demo_step s ON (s.course, s.step, s.ending) = (w.course, w.steps, w.ending),
            generate_series(1, w.resumes) AS n
        WHERE w.number >= %(first)s AND w.number < %(last)s
    ) AS event ORDER BY at
"""  # noqa: S608

USAGE_DAYS = """
    INSERT INTO billing_usageday (account_id, day, checkpoint_writes, resume_calls, replay_calls, storage_bytes_written)
    SELECT account_id, day, sum(steps), sum(resumes), 0, sum(bytes) FROM demo_day GROUP BY 1, 2
"""
USAGE_MONTHS = """
    INSERT INTO billing_usagerecord (account_id, month, checkpoint_writes, resume_calls, replay_calls,
        storage_bytes_written)
    SELECT account_id, date_trunc('month', day)::date, sum(steps), sum(resumes), 0, sum(bytes)
    FROM demo_day GROUP BY 1, 2
"""
SAMPLES = """
    INSERT INTO billing_storagesample (account_id, day, bytes)
    SELECT w.account_id, day::date,
        coalesce(sum(w.stored_bytes) FILTER (WHERE w.started_at < day + interval '1 day'), 0)
    FROM checkpoints_workflow w JOIN demo_workflow d ON d.id = w.id,
        generate_series(%(since)s::date, %(until)s::date, interval '1 day') AS day
    GROUP BY 1, 2
"""
WARNINGS = """
    INSERT INTO billing_quotawarning (account_id, month, meter, threshold, used, at)
    SELECT DISTINCT ON (account_id, month, threshold) account_id, month, 'checkpoint_writes', threshold, used,
        least(day + interval '20 h', %(now)s)
    FROM (
        SELECT account_id, day, date_trunc('month', day)::date AS month,
            sum(checkpoint_writes) OVER (PARTITION BY account_id, date_trunc('month', day) ORDER BY day) AS used
        FROM billing_usageday WHERE account_id = ANY (%(accounts)s)
    ) AS summed, unnest(ARRAY[80, 100]) AS threshold
    WHERE used >= %(free)s * threshold / 100 ORDER BY account_id, month, threshold, day
"""
CUSTOMERS = """
    UPDATE accounts_account SET stripe_customer_id = 'cus_demo_' || left(replace(id::text, '-', ''), 16)
    WHERE id = ANY (%(accounts)s) AND plan <> 'free' AND %(stripe_is_off)s
"""
REPORTS = """
    INSERT INTO billing_meterreport (account_id, month, meter, start, units, identifier, at, state, attempts,
        in_doubt_since, sent_at, error, created_at)
    SELECT account_id, month, 'checkpoint_writes', 0, units,
        replace(account_id::text, '-', '') || '-' || to_char(month, 'YYYYMM') || '-checkpoint_writes-0-' || units,
        at, state, 1, CASE WHEN state = 'doubtful' THEN at END, CASE WHEN state = 'sent' THEN at END,
        CASE state WHEN 'refused' THEN 'No such customer' WHEN 'doubtful' THEN 'Read timed out' ELSE '' END, at
    FROM (
        SELECT account_id, month, (checkpoint_writes - %(free)s) * 9 / 10 AS units, least(month + interval '27 days',
            %(now)s) AS at, CASE row_number() OVER () %% 9 WHEN 3 THEN 'doubtful' WHEN 6 THEN 'refused'
            ELSE 'sent' END AS state
        FROM billing_usagerecord r JOIN accounts_account a ON a.id = r.account_id
        WHERE account_id = ANY (%(accounts)s) AND stripe_customer_id LIKE 'cus_demo_%%'
    ) AS owed WHERE units > 0
"""
INVOICES = """
    INSERT INTO billing_invoice (id, customer, status, created_at, told_at, number, currency, amount_due, amount_paid,
        period_start, period_end)
    SELECT 'in_demo_' || substr(stripe_customer_id, 10), stripe_customer_id, CASE WHEN open THEN 'open' ELSE 'paid' END,
        began, extract(epoch FROM began), 'DEMO-' || lpad(place::text, 5, '0'), 'usd', due,
        CASE WHEN open THEN 0 ELSE due END, began - interval '1 month', began
    FROM (
        SELECT stripe_customer_id, row_number() OVER (ORDER BY id) AS place, date_trunc('month', %(now)s) AS began,
            500 + 37 * row_number() OVER (ORDER BY id) AS due, row_number() OVER (ORDER BY id) %% 7 = 0 AS open
        FROM accounts_account WHERE id = ANY (%(accounts)s) AND stripe_customer_id LIKE 'cus_demo_%%'
    ) AS billed
"""
SUBSCRIPTIONS = """
    INSERT INTO billing_subscription (id, customer, status, created_at, told_at, ended_unpaid, applied)
    SELECT 'sub_demo_' || substr(stripe_customer_id, 10), stripe_customer_id, 'active', created_at,
        extract(epoch FROM created_at), false, 'active'
    FROM accounts_account WHERE id = ANY (%(accounts)s) AND stripe_customer_id LIKE 'cus_demo_%%'
"""
