"""Reads what `git rekal export --format otel` prints on stdin by OpenTelemetry's published protocol, and compares its tokens with those of `git rekal stats`."""

import base64
import json
import subprocess
import sys

from google.protobuf import json_format
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData


def parse(line):
    """OTLP's JSON writes IDs in hexadecimal, and protobuf's in base64."""
    message = json.loads(line)
    for span in (s for r in message["resourceSpans"] for c in r["scopeSpans"] for s in c["spans"]):
        for holder in [span, *span.get("links", [])]:
            for name, size in (("traceId", 16), ("spanId", 8), ("parentSpanId", 8)):
                if name in holder:
                    raw = bytes.fromhex(holder[name])
                    assert len(raw) == size, holder
                    holder[name] = base64.b64encode(raw).decode()
    return json_format.ParseDict(message, TracesData())


def main():
    spans, seen, tokens = 0, set(), {"chat": 0, "invoke_agent": 0, "execute_tool": 0}
    for data in map(parse, sys.stdin):
        all_spans = [s for r in data.resource_spans for c in r.scope_spans for s in c.spans]
        (root,) = [s for s in all_spans if not s.parent_span_id]
        for s in all_spans:
            attributes = {a.key: a.value for a in s.attributes}
            assert len(attributes) == len(s.attributes) and s.span_id not in seen and s.parent_span_id in (b"", root.span_id), s
            assert root.start_time_unix_nano <= s.start_time_unix_nano <= s.end_time_unix_nano <= root.end_time_unix_nano, s
            seen.add(s.span_id)
            spans += 1
            tokens[attributes["gen_ai.operation.name"].string_value] += sum(attributes[k].int_value for k in attributes if k in ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"))
    total = json.loads(subprocess.check_output(["git-rekal", "stats", "--json"]).splitlines()[-1])
    total = total.get("total", total)
    want = sum(total[k] for k in ("input", "output", "cache_read", "cache_write"))
    assert spans > 0 and tokens["chat"] == tokens["invoke_agent"] == want, (spans, tokens, want)
    print(f"OpenTelemetry: {spans} spans, {want} tokens")


main()
