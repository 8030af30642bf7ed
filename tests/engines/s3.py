"""Tries `git rekal export --parquet s3://…` in the repository it is started in, against a local S3 server, which DuckDB then reads.

    s3.py FOLDER

FOLDER is an export of the same repository: the bucket must hold the same rows.
"""

import hashlib
import json
import logging
import os
import subprocess
import sys
import tempfile
import threading
import time

import boto3
import duckdb
import duckdb_extension_httpfs
from moto.server import ThreadedMotoServer

PLACE, KEY = "s3://lake/team a", {"AWS_ACCESS_KEY_ID": "an id", "AWS_SECRET_ACCESS_KEY": "a secret", "AWS_REGION": "eu-north-1"}


def rekal(*args, env=os.environ, ok=True):
    done = subprocess.run(["git-rekal", *args], env=env, capture_output=True, text=True)
    assert (done.returncode == 0) == ok, done
    return (done.stdout + done.stderr).strip()


class Lake:
    def __init__(self, endpoint):
        self.s3 = boto3.client("s3", endpoint_url=endpoint, aws_access_key_id="x", aws_secret_access_key="y", region_name="eu-north-1")
        self.s3.create_bucket(Bucket="lake", CreateBucketConfiguration={"LocationConstraint": "eu-north-1"})
        self.con = duckdb.connect()
        root = os.path.dirname(duckdb_extension_httpfs.__file__)
        (extension,) = [os.path.join(d, f) for d, _, files in os.walk(root) for f in files if f.endswith(".duckdb_extension")]
        self.con.execute(f"LOAD '{extension}'")
        self.con.execute(f"CREATE SECRET (TYPE s3, KEY_ID 'x', SECRET 'y', ENDPOINT '{endpoint[7:]}', URL_STYLE 'path', USE_SSL false)")

    def get(self, path):
        return self.s3.get_object(Bucket="lake", Key="team a/" + path)["Body"].read()

    def objects(self):
        return {o["Key"][7:]: o["LastModified"].timestamp() for o in self.s3.list_objects_v2(Bucket="lake").get("Contents", [])}

    def read(self):
        """Reads all files of a manifest, as somebody does who must not meet two states."""
        try:
            manifest = json.loads(self.get("manifest.json"))
            for f in manifest["files"]:
                assert hashlib.sha256(self.get(f["path"])).hexdigest() == f["sha256"], f
        except self.s3.exceptions.NoSuchKey:
            return None
        return manifest

    def same(self, folder):
        """Has DuckDB compare the rows of each table with those of a folder."""
        for table in sorted(os.listdir(folder)):
            if os.path.isdir(os.path.join(folder, table)):
                a, b = [f"SELECT * FROM read_parquet('{p}/{table}/**/*.parquet', hive_partitioning = true)" for p in (PLACE, folder)]
                n, differ = self.con.execute(f"SELECT (SELECT count(*) FROM ({a})), (SELECT count(*) FROM (({a} EXCEPT ALL {b}) UNION ALL ({b} EXCEPT ALL {a})))").fetchone()
                assert n > 0 and differ == 0, (table, n, differ)


def kill_between(lake, env):
    """Kills an export after it has put its first file, and before its manifest: again and again, until that was met."""
    for _ in range(100):
        begun = subprocess.Popen(["git-rekal", "export", "--parquet", PLACE], env=env, stderr=subprocess.DEVNULL)
        while begun.poll() is None and not lake.objects():
            time.sleep(0.001)
        begun.kill()
        begun.wait()
        there = lake.objects()
        if there and "manifest.json" not in there:
            return
        for path in there:
            lake.s3.delete_object(Bucket="lake", Key="team a/" + path)
    raise AssertionError("no run could be killed in between")


def main():
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    folder, server = os.path.abspath(sys.argv[1]), ThreadedMotoServer(port=0, verbose=False)
    server.start()
    endpoint = "http://%s:%s" % server.get_host_and_port()
    lake, env = Lake(endpoint), os.environ | KEY | {"AWS_ENDPOINT_URL": endpoint}

    for wrong, says in [(os.environ, "AWS_ACCESS_KEY_ID"), (env | {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, "refused")]:
        said = rekal("export", "--parquet", PLACE, env=wrong, ok=False)
        assert says in said and "\n" not in said and "a secret" not in said, said

    env["TMPDIR"] = tempfile.mkdtemp()
    kill_between(lake, env)
    assert os.listdir(env["TMPDIR"]), "the killed run had no folder"
    rekal("export", "--parquet", PLACE, env=env)
    assert not os.listdir(env["TMPDIR"]), "a killed run's folder stayed"
    first, files = lake.read(), lake.objects()
    assert set(files) == {"manifest.json"} | {f["path"] for f in first["files"]}, files
    lake.same(folder)
    said = rekal("export", "--parquet", PLACE, env=env)
    assert "wrote 0 files" in said and lake.objects() == files, said

    session = lake.con.execute(f"SELECT min(id) FROM read_parquet('{PLACE}/sessions/**/*.parquet')").fetchone()[0]
    rekal("purge", session)
    seen, end = [], threading.Event()

    def reader():
        while not end.is_set():
            seen.append(lake.read())

    beside = threading.Thread(target=reader)
    beside.start()
    both = [subprocess.Popen(["git-rekal", "export", "--parquet", PLACE], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [(p.communicate()[1], p.returncode) for p in both]
    end.set()
    beside.join()
    assert all(code == 0 or "somebody else wrote" in err for err, code in said) and any(code == 0 for _, code in said), said
    last = lake.read()
    assert all(m in (None, first, last) for m in seen) and last not in (None, first), "a reader met two states"
    assert set(lake.objects()) == {"manifest.json"} | {f["path"] for f in last["files"]}, "replaced files stayed"
    left = lake.con.execute(f"SELECT count(*) FROM read_parquet('{PLACE}/turns/**/*.parquet') WHERE session_id = '{session}'").fetchone()[0]
    assert left == 0, "a purged session is there"
    print(f"S3: {len(first['files'])} files, the same rows as in a folder; {len(seen)} reads beside a run met one state each")
    server.stop()


main()
