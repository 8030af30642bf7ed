-- Where do sessions touch a path, in a quarter?
SELECT repository, count(DISTINCT session_id) AS n FROM tool_calls
WHERE path LIKE 'auth/%' AND month BETWEEN '2026-07' AND '2026-09'
GROUP BY repository ORDER BY n DESC, repository LIMIT 10;

-- Which programs fail most?
SELECT program, sum(CASE WHEN failed THEN 1 ELSE 0 END) AS failures, count(*) AS n FROM tool_calls
WHERE program IS NOT NULL GROUP BY program ORDER BY failures DESC, program LIMIT 10;

-- How many prompts have a word?
SELECT month, count(*) AS n FROM turns
WHERE role = 'human' AND lower(content) LIKE '%timeout%' GROUP BY month ORDER BY month;

-- What do models take?
SELECT model, month, count(*) AS requests, sum(input_tokens) AS tokens_in, sum(output_tokens) AS tokens_out FROM usage
GROUP BY model, month ORDER BY model, month;

-- Whose are the lines that stand in HEAD, and of which agents?
SELECT l.whose, s.source, count(DISTINCT l.session_id) AS n, sum(l.line_count) AS line_count
FROM head_lines AS l LEFT JOIN sessions AS s ON s.repository = l.repository AND s.id = l.session_id
GROUP BY l.whose, s.source ORDER BY l.whose, s.source;
