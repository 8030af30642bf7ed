"""Has DuckDB, ClickHouse and Spark answer docs/engines/statements.sql from one export, and compares the answers.

    engines.py EXPORT FOLDER [REPOSITORIES [SESSIONS]]

EXPORT is what `git rekal export --parquet` wrote of a small repository: the generated export in FOLDER has its tables and types.
"""

import decimal
import json
import os
import sys
import time

import chdb.session
import duckdb
import pyspark
from pyspark.sql import SparkSession

TABLES = ["sessions", "turns", "tool_calls", "usage", "head_lines"]

# Each session begins in one of nine months, has eight turns, four calls and two requests, and wrote lines of a file that has others, too.
ROWS = {
    "sessions": "'s' || i AS id, 'h' || i AS session_hash, ts AS captured_at, ts AS started_at, ['claude-code','codex','gemini'][1 + i % 3] AS source",
    "turns": "'t' || i || '-' || k AS id, 's' || i AS session_id, k AS turn_index, ['human','assistant'][1 + k % 2] AS role, "
    "ts + k * INTERVAL 1 SECOND AS ts, 'why does request ' || i || ' run into ' || ['a timeout','an ERROR','Timeout 30','nothing'][1 + (i + k) % 4] "
    "|| repeat(' and what else is said', i % 30) AS content",
    "tool_calls": "'c' || i || '-' || k AS id, 's' || i AS session_id, k AS call_order, ['Bash','Edit'][1 + k % 2] AS tool, "
    "CASE WHEN k % 2 = 1 THEN ['auth','web','db'][1 + (i * 7 + k) % 3] || '/file' || i % 50 || '.go' END AS path, "
    "CASE WHEN k % 2 = 0 THEN ['go test ./...','make','npm test','git push'][1 + (i + k // 2) % 4] END AS cmd_prefix, CASE WHEN k % 2 = 0 THEN ['go test','make','npm test','git push'][1 + (i + k // 2) % 4] END AS program, k AS turn_index, (i * 13 + k) % 7 = 0 AS failed",
    "usage": "'s' || i AS session_id, 'r' || k AS request, k AS turn_index, ts AS ts, ['opus','sonnet','gpt'][1 + i % 3] AS model, "
    "1000 + i % 977 AS input_tokens, 100 + (i * k) % 89 AS output_tokens",
    "head_lines": "CASE WHEN k = 0 THEN 's' || i END AS session_id, ['session','no_session','unknown'][1 + k] AS whose, sha1('' || i % REPOSITORIES) AS git_sha, "
    "'auth/file' || i % 50 || '.go' AS path, 1 + (i + k) % 40 AS line_count, ts AS ts",
}
TIMES = {"sessions": 1, "turns": 8, "tool_calls": 4, "usage": 2, "head_lines": 3}


def generate(export, folder, repositories, sessions):
    os.makedirs(folder)
    con = duckdb.connect()
    for table in TABLES:
        con.execute(f"CREATE TABLE t AS SELECT * EXCLUDE (repository) FROM read_parquet('{export}/{table}/**/*.parquet', hive_partitioning = true, hive_types_autocast = false) LIMIT 0")
        con.execute("ALTER TABLE t ADD COLUMN repository VARCHAR")
        con.execute(
            f"INSERT INTO t BY NAME SELECT {ROWS[table].replace('REPOSITORIES', str(repositories))}, 'git.example.com-team-r' || i % {repositories} AS repository, strftime(ts, '%Y-%m') AS month "
            f"FROM (SELECT i, k, TIMESTAMP '2026-01-03' + INTERVAL (i // {repositories} % 9 * 30) DAY + INTERVAL (i) SECOND AS ts "
            f"FROM range({sessions}) a(i), range({TIMES[table]}) b(k)) ORDER BY repository, month, i, k"
        )
        con.execute(f"COPY t TO '{folder}/{table}' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (repository, month))")
        con.execute("DROP TABLE t")


def statements():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/engines/statements.sql")
    text = " ".join(line.strip() for line in open(path) if not line.startswith("--"))
    found = [statement.strip() for statement in text.split(";") if statement.strip()]
    assert len(found) == 5, found
    return found


def plain(rows):
    return [tuple(int(v) if isinstance(v, decimal.Decimal) else v for v in row) for row in rows]


def with_duckdb(folder):
    con = duckdb.connect()
    for t in TABLES:
        con.execute(f"CREATE VIEW {t} AS FROM read_parquet('{folder}/{t}/**/*.parquet', hive_partitioning = true)")
    return lambda s: plain(con.execute(s).fetchall())


def with_clickhouse(folder):
    con = chdb.session.Session()
    for t in TABLES:
        con.query(f"CREATE VIEW {t} AS SELECT * FROM file('{folder}/{t}/**/*.parquet', Parquet) SETTINGS use_hive_partitioning = 1")

    def ask(s):
        answer = json.loads(str(con.query(s, "JSONCompact")))
        number = [m["type"].startswith(("Int", "UInt", "Nullable(Int", "Nullable(UInt")) for m in answer["meta"]]
        return [tuple(int(v) if n else v for n, v in zip(number, row)) for row in answer["data"]]

    return ask


def with_spark(folder):
    # Spark's own standalone master with two workers, on loopback; each worker's executor is a process.
    os.environ.update(SPARK_LOCAL_IP="127.0.0.1", SPARK_HOME=os.path.dirname(pyspark.__file__))
    spark = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false").config("spark.driver.host", "127.0.0.1") \
        .config("spark.sql.shuffle.partitions", "4").config("spark.driver.memory", "2g").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    for t in TABLES:
        spark.read.parquet(f"{folder}/{t}").createOrReplaceTempView(t)
    return lambda s: plain(spark.sql(s).collect()) if s else spark.stop()


def main():
    export, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    repositories, sessions = int((sys.argv + [1000] * 4)[3]), int((sys.argv[:5] + [100000] * 5)[4])
    begin = time.monotonic()
    generate(export, folder, repositories, sessions)
    print(f"generated {sessions} sessions in {repositories} repositories: {time.monotonic() - begin:.1f} s, "
          f"{sum(len(files) for _, _, files in os.walk(folder))} files")
    first, wrong = {}, 0
    for name, connect in [("DuckDB", with_duckdb), ("ClickHouse", with_clickhouse), ("Spark", with_spark)]:
        begin = time.monotonic()
        ask = connect(folder)
        print(f"{name}: connected in {time.monotonic() - begin:.1f} s")
        for n, statement in enumerate(statements(), 1):
            begin = time.monotonic()
            rows = ask(statement)
            same = rows == first.setdefault(n, rows) and len(rows) > 0
            print(f"  {n}: {len(rows)} rows, {time.monotonic() - begin:.2f} s, {'alike' if same else 'OTHERWISE: %r' % rows[:3]}", flush=True)
            wrong += not same
    ask("")  # Spark's processes end
    sys.exit(wrong > 0)


main()
