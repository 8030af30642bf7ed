#!/usr/bin/env python3
"""Records what real tools print, for the tests of this package.

usage: record.py WORKDIR [NAME…]

WORKDIR needs venv/ with pytest, and js/node_modules with typescript, eslint, jest and vitest; go, gcc,
clang, cmake, ninja, make, cargo, javac, git and apt-get are those of the system. Each case is a project that is
written here, so what it must say ("want") is known before the tool runs. A case ends up as seen/NAME.txt.gz or
held/NAME.txt.gz, with NAME.json: the command, its exit status and what has to be kept. The rules were written with
seen/ alone; held/ was looked at once, for the figures.
"""
import gzip, json, os, pathlib, re, subprocess, sys

HERE = pathlib.Path(__file__).resolve().parent
WORK = pathlib.Path(sys.argv[1]).resolve()
ONLY = sys.argv[2:]
BIN = WORK / "js/node_modules/.bin"
ENV = dict(os.environ, PATH=f"{WORK}/venv/bin:{BIN}:" + os.environ["PATH"], CI="1", TERM="dumb", LC_ALL="C.UTF-8",
           GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@example.com", GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@example.com",
           GIT_CONFIG_GLOBAL="/dev/null", GOFLAGS="", FORCE_COLOR="0")
LIMIT = 400_000  # bytes of one output that are kept: its beginning and end


def case(group, name, files, command, want, setup="true"):
    if ONLY and name not in ONLY:
        return
    home = WORK / "cases" / f"{group}-{name}"
    subprocess.run(["rm", "-rf", str(home)])
    home.mkdir(parents=True)
    for path, text in files.items():
        p = home / path
        p.parent.mkdir(parents=True, exist_ok=True)
        p.write_text(text)
    if not (home / "node_modules").exists():
        os.symlink(WORK / "js/node_modules", home / "node_modules")
    subprocess.run(["bash", "-c", setup], cwd=home, env=ENV, capture_output=True, check=True)
    out = subprocess.run(["bash", "-c", command + " 2>&1"], cwd=home, env=ENV, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    text = out.stdout
    if len(text) > LIMIT:
        text = text[:LIMIT // 2] + b"\n" + text[-LIMIT // 2:]
    decoded = text.decode(errors="replace")
    plain = decoded
    if "-json" in command:
        plain = "".join(json.loads(l).get("Output", "") for l in decoded.splitlines() if l.startswith("{"))
    plain = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", plain)
    missing = [w for w in want if w not in plain]
    print(f"{group}/{name}: exit {out.returncode}, {len(text)} bytes", "MISSING " + repr(missing) if missing else "", flush=True)
    d = HERE / group
    d.mkdir(exist_ok=True)
    (d / f"{name}.txt.gz").write_bytes(gzip.compress(text, 9, mtime=0))
    (d / f"{name}.json").write_text(json.dumps({"command": command, "exit": out.returncode, "want": want}, indent=1) + "\n")


def gotests(pkg, names, bad):
    """A test file: each name passes with some log lines, those in bad fail with their message."""
    out = "package PKG\n\nimport \"testing\"\n\n"
    for n in names:
        body = bad.get(n, 't.Log("checked")')
        out += f"func {n}(t *testing.T) {{\n\t{body}\n}}\n\n"
    return out.replace("PKG", pkg)


def go_cases():
    names = [f"TestParse{i:03}" for i in range(260)]
    f = {"go.mod": "module example.com/shop\n\ngo 1.26\n",
         "cart/cart_test.go": gotests("cart", names, {"TestParse017": 't.Errorf("got %d, want %d", 3, 4)', "TestParse201": 't.Fatal("no rows for customer 88")'}),
         "auth/auth_test.go": gotests("auth", [f"TestToken{i}" for i in range(40)], {"TestToken7": 't.Run("expired in UTC", func(t *testing.T) { t.Errorf("token: %v", "expired too early") })'}),
         "pay/pay_test.go": gotests("pay", ["TestPay"], {})}
    want = ["--- FAIL: TestParse017", "cart_test.go:74: got 3, want 4", "--- FAIL: TestParse201", "no rows for customer 88", "--- FAIL: TestToken7/expired_in_UTC",
            "token: expired too early", "FAIL\texample.com/shop/auth", "FAIL\texample.com/shop/cart", "ok  \texample.com/shop/pay"]
    case("seen", "go-test", f, "go test -v ./...", want)
    case("seen", "go-test-json", f, "go test -json ./...", want)
    g = {"go.mod": "module example.com/store\n\ngo 1.26\n",
         "db/db_test.go": gotests("db", [f"TestRow{i}" for i in range(200)], {"TestRow150": 'var m map[string]int; m["x"] = 1'}),
         "api/api_test.go": "package api\n\nimport \"testing\"\n\nfunc TestCases(t *testing.T) {\n\tfor _, c := range []string{" + ", ".join(f'"case %d"' % i for i in range(120)) +
         "} {\n\t\tt.Run(c, func(t *testing.T) {\n\t\t\tif c == \"case 33\" || c == \"case 77\" {\n\t\t\t\tt.Errorf(\"%s: status 500\", c)\n\t\t\t}\n\t\t})\n\t}\n}\n",
         "ui/ui_test.go": "package ui\n\nimport \"testing\"\n\nfunc TestUI(t *testing.T) { undefinedThing(t) }\n"}
    want = ["panic: assignment to entry in nil map", "--- FAIL: TestRow150", "db_test.go:606", "--- FAIL: TestCases/case_33", "--- FAIL: TestCases/case_77", "case 77: status 500",
            "ui_test.go:5:29: undefined: undefinedThing", "FAIL\texample.com/store/ui [build failed]"]
    case("held", "go-test", g, "go test -v ./...", want)
    case("held", "go-test-json", g, "go test -json ./...", want)
    src = "package main\n\nimport \"fmt\"\n\nfunc main() {\n" + "".join(f"\tvar x{i} int = \"s{i}\"\n\tfmt.Println(x{i})\n" for i in range(6)) + "\tmissing()\n}\n"
    case("seen", "go-build", {"go.mod": "module example.com/b\n\ngo 1.26\n", "main.go": src, "util/util.go": "package util\n\nfunc F() int { return \"a\" }\n"}, "go build -x ./... ",
         ["./main.go:6:15: cannot use \"s0\"", "./main.go:18:2: undefined: missing", "util/util.go:3:23: cannot use \"a\""])
    vet = "package main\n\nimport \"fmt\"\n\nfunc main() {\n" + "".join(f"\tfmt.Printf(\"%d\\n\", \"w{i}\")\n" for i in range(9)) + "}\n"
    case("held", "go-vet", {"go.mod": "module example.com/v\n\ngo 1.26\n", "main.go": vet, "x/x.go": "package x\n\nimport \"sync\"\n\nfunc C(m sync.Mutex) {}\n"}, "go vet -x ./...",
         ["main.go:6:14: fmt.Printf format %d has arg \"w0\"", "main.go:14:14: fmt.Printf format %d", "x.go:5:10: C passes lock by value"])


def py_cases():
    ok = "".join(f"def test_ok_{i}():\n    assert True\n\n" for i in range(240))
    f = {"tests/test_auth.py": "from src.auth.tokens import verify\n\ndef test_login_requires_token():\n    assert verify('') is False\n\ndef test_refresh_token_expired():\n    assert verify('old') == 'expired'\n\n" + ok,
         "src/__init__.py": "", "src/auth/__init__.py": "", "src/auth/tokens.py": "def verify(t):\n    if t == 'old':\n        raise ValueError('signature has expired')\n    return True\n",
         "tests/__init__.py": "", "tests/test_math.py": ok, "conftest.py": ""}
    case("seen", "pytest", f, "pytest -v", ["FAILED tests/test_auth.py::test_login_requires_token", "FAILED tests/test_auth.py::test_refresh_token_expired", "ValueError: signature has expired",
         "src/auth/tokens.py:3: ValueError", "2 failed, 480 passed"])
    par = "import pytest\n\n@pytest.fixture\ndef db():\n    raise ConnectionError('refused on port 5432')\n\n@pytest.mark.parametrize('n', range(300))\ndef test_square(n):\n    assert n * n != 169\n\ndef test_rows(db):\n    pass\n\n@pytest.mark.skip\ndef test_later():\n    pass\n\ndef test_warns():\n    import warnings\n    warnings.warn('old API', DeprecationWarning)\n"
    case("held", "pytest", {"tests/test_api.py": par, "tests/test_broken.py": "import nothing_here\n"}, "pytest --continue-on-collection-errors -rA",
         ["FAILED tests/test_api.py::test_square[13]", "ERROR tests/test_api.py::test_rows - ConnectionError: refused on port 5432", "ERROR tests/test_broken.py", "No module named 'nothing_here'", "1 failed, 300 passed, 1 skipped"])
    log = "".join(f"print('2026-11-20 10:00:{i%60:02} INFO worker {i} took {i*7} ms')\n" for i in range(600))
    case("seen", "python-trace", {"job.py": log + "def load(p):\n    return open(p)\ndef run():\n    load('/data/customers.csv')\nrun()\n"}, "python3 job.py",
         ["Traceback (most recent call last):", "job.py\", line 604, in run", "FileNotFoundError: [Errno 2] No such file or directory: '/data/customers.csv'"])
    case("held", "python-trace", {"svc.py": log + "def a():\n    return {}['region']\ndef b():\n    try:\n        a()\n    except KeyError as e:\n        raise RuntimeError('config incomplete') from e\nb()\n" },
         "python3 svc.py", ["KeyError: 'region'", "RuntimeError: config incomplete", "The above exception was the direct cause"])


def js_cases():
    ts = {"tsconfig.json": '{"compilerOptions":{"strict":true,"noEmit":true,"types":[]},"include":["src"]}'}
    for i in range(90):
        ts[f"src/m{i}.ts"] = f"export const v{i}: number = 'x{i}';\nexport function f{i}(a: string) {{ return a.size{i}; }}\n"
    case("seen", "tsc", ts, "tsc -p . --pretty false", ["src/m0.ts(1,14): error TS2322", "src/m89.ts(2,43): error TS2339", "size41"])
    case("held", "tsc", {"tsconfig.json": ts["tsconfig.json"], "src/user.ts": "interface U { id: number }\nexport const u: U = { id: '7', nome: 1 };\nexport let z = u.name;\nfoo();\n", "src/b.ts": "import { nope } from './user';\nexport default nope\n"},
         "tsc -p . --pretty true --listFiles", ["src/user.ts", "TS2339", "TS2304", "TS2305", "errors"])
    conf = "module.exports = [{ rules: { 'no-undef': 'error', 'no-unused-vars': 'warn', 'eqeqeq': 'error' } }];\n"
    bad = {"eslint.config.js": conf}
    for i in range(40):
        bad[f"lib/f{i}.js"] = "".join(f"var unused{j} = {j};\n" for j in range(8)) + (f"if (missing{i} == 1) {{}}\n" if i % 10 == 0 else "")
    case("seen", "eslint", bad, "eslint lib", ["lib/f0.js", "'missing0' is not defined", "lib/f30.js", "'missing30' is not defined", "✖ 328 problems (8 errors, 320 warnings)"])
    case("held", "eslint", {"eslint.config.js": conf, **{f"app/v{i}.js": "let a = 1;\n" * 1 + f"use{i}(a);\n" + "if (a != 2) { }\n" for i in range(60)}}, "eslint app",
         ["app/v0.js", "'use0' is not defined", "'use59' is not defined", "120 problems"])
    jest = {"package.json": '{"name":"j"}', "jest.config.js": "module.exports={}\n"}
    for i in range(30):
        jest[f"t{i}.test.js"] = "describe('cart %d', () => {\n" % i + "".join(f"  test('adds item {k}', () => {{ console.log('adding', {k}); expect(1).toBe(1); }});\n" for k in range(6)) + \
            ("  test('applies discount', () => { expect({ total: 90 }).toEqual({ total: 81 }); });\n" if i in (3, 21) else "") + "});\n"
    case("seen", "jest", jest, "jest --verbose", ["FAIL ./t3.test.js", "● cart 3 › applies discount", "● cart 21 › applies discount", "t21.test.js:8", "2 failed, 180 passed, 182 total"])
    jest2 = {"package.json": '{"name":"k"}', "jest.config.js": "module.exports={}\n", "broken.test.js": "const x = ;\n",
             "net.test.js": "test('fetches user 7', async () => { await Promise.reject(new Error('ECONNREFUSED 127.0.0.1:8080')); });\n" + "".join(f"test('ok {i}', () => {{}});\n" for i in range(200))}
    case("held", "jest", jest2, "jest --verbose", ["FAIL ./broken.test.js", "SyntaxError", "● fetches user 7", "ECONNREFUSED 127.0.0.1:8080", "1 failed, 200 passed, 201 total"])
    vt = {}
    for i in range(20):
        vt[f"test/s{i}.test.js"] = "import { test, expect, describe } from 'vitest';\n" + f"describe('search {i}', () => {{\n" + "".join(f"  test('case {k}', () => {{ expect({k}).toBe({k}); }});\n" for k in range(10)) + \
            ("  test('ranks exact match first', () => { expect(['b','a']).toEqual(['a','b']); });\n" if i == 11 else "") + "});\n"
    case("seen", "vitest", vt, "vitest run --reporter=verbose --no-color", ["FAIL  test/s11.test.js > search 11 > ranks exact match first", "AssertionError", "1 failed | 200 passed (201)"], setup="rm node_modules && cp -rs " + str(WORK / "js/node_modules") + " node_modules; rm -rf node_modules/.vite")
    vt2 = {"test/a.test.js": "import { test, expect } from 'vitest';\nimport './gone.js';\ntest('x', () => {});\n", "test/b.test.js": "import { test } from 'vitest';\n" + "".join(f"test('row {i}', () => {{ if ({i} === 44) throw new TypeError('row 44 is not iterable'); }});\n" for i in range(150))}
    case("held", "vitest", vt2, "vitest run --reporter=verbose --no-color", ["test/a.test.js", "./gone.js", "FAIL  test/b.test.js > row 44", "TypeError: row 44 is not iterable", "1 failed | 149 passed (150)"], setup="rm node_modules && cp -rs " + str(WORK / "js/node_modules") + " node_modules; rm -rf node_modules/.vite")
    case("seen", "npm-install", {"package.json": '{"name":"n","version":"1.0.0","dependencies":{"request":"2.88.2","gulp":"3.9.1","mkdirp":"0.5.1"}}'},
         "npm install --loglevel http --cache ./cache --ignore-scripts", ["added 298 packages in"], setup="rm -f node_modules")
    case("held", "npm-install", {"package.json": '{"name":"n2","version":"1.0.0","dependencies":{"react":"18.2.0","react-dom":"17.0.2","left-pad":"1.3.0"}}'}, "npm install --loglevel http --cache ./cache --ignore-scripts",
         ["npm error code ERESOLVE", "peer react@\"17.0.2\" from react-dom@17.0.2"], setup="rm -f node_modules")
    case("seen", "npm-run", {"package.json": '{"name":"app","version":"2.1.0","scripts":{"build":"node build.js"}}', "build.js": "for (let i=0;i<500;i++) console.log(`asset static/chunk-${i}.js ${i*13} KiB [emitted]`);\nconsole.error('ERROR in ./src/bundle.js 12:4-9');\nthrow new Error('build failed: dist/bundle.js was not written');\n"},
         "npm run build", ["ERROR in ./src/bundle.js 12:4-9", "Error: build failed: dist/bundle.js was not written", "build.js:3"])
    case("held", "node-trace", {"srv.js": "for (let i=0;i<700;i++) console.log(`[${i}] GET /api/items/${i} 200 ${i%17}ms`);\nfunction handle(r){ return r.body.user.id }\nfunction serve(){ handle({}) }\nserve();\n"}, "node srv.js",
         ["TypeError: Cannot read properties of undefined (reading 'user')", "srv.js:2", "at handle"])


def c_cases():
    def tree(n, bad):
        files, objs = {}, []
        for i in range(n):
            files[f"src/unit{i}.c"] = f"#include <stdio.h>\nint unit{i}(int a) {{\n{bad.get(i, '')}\n  return a + {i};\n}}\n"
            objs.append(f"src/unit{i}.o")
        files["Makefile"] = "OBJS = " + " ".join(objs) + "\nCFLAGS = -Wall -Wextra -O2 -g -std=gnu11 -D_FORTIFY_SOURCE=2 -fstack-protector-strong\nall: prog\nprog: $(OBJS)\n\t$(CC) -o prog $(OBJS)\n"
        return files
    case("seen", "make-gcc", tree(150, {4: "  int unused_here;", 77: "  return undeclared_name;"}), "make -k", ["src/unit4.c:3:7: warning: unused variable ‘unused_here’", "src/unit77.c:3:10: error: ‘undeclared_name’ undeclared",
         "make: *** [<builtin>: src/unit77.o] Error 1", "make: Target 'all' not remade because of errors."])
    case("held", "make-clang", tree(120, {9: "  char *s = a;", 60: "  prinft(\"x\")"}), "make -k CC=clang", ["src/unit9.c:3:9: warning: incompatible integer to pointer conversion", "src/unit60.c:3:14: error: expected ';'", "make: *** [<builtin>: src/unit60.o] Error 1"])
    cm = {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(p CXX)\nfile(GLOB S src/*.cc)\nadd_executable(p ${S})\n", "src/main.cc": "int main() { return 0; }\n"}
    for i in range(60):
        cm[f"src/w{i}.cc"] = f"#include <vector>\nint w{i}() {{ std::vector<int> v; {'v.push(1);' if i == 31 else 'v.push_back(1);'} return v.size(); }}\n"
    case("held", "cmake", cm, "cmake -B b && cmake --build b -- -k", ["w31.cc:2:35: error: ‘class std::vector<int>’ has no member named ‘push’", "Error 2"])
    case("seen", "gcc", {"a.c": "#include <stdio.h>\n" + "".join(f"int f{i}(void) {{ char *p = {i}; return q{i}; }}\n" for i in range(60))}, "gcc -Wall -c a.c", ["a.c:2:", "‘q59’ undeclared", "a.c:61:"])
    case("seen", "clang", {"a.cc": "#include <string>\n#include <map>\n" + "".join(f"int g{i}() {{ std::map<std::string,int> m; return m[{i}u] + n{i}; }}\n" for i in range(12))}, "clang++ -c a.cc", ["undeclared identifier 'n0'", "errors generated." ])
    case("held", "gxx", {"t.cc": "#include <algorithm>\n#include <list>\n#include <vector>\nstruct P{};\nint main() { std::list<int> l; std::sort(l.begin(), l.end()); std::vector<P> v; std::sort(v.begin(), v.end()); }\n"}, "g++ -c t.cc", ["error: no match for ‘operator-’", "error: no match for ‘operator<’"])
    rs = {"Cargo.toml": '[package]\nname = "ledger"\nversion = "0.1.0"\nedition = "2021"\n', "src/lib.rs": "".join(f"pub fn f{i}() -> u32 {{ {i} }}\n" for i in range(4)) + "#[cfg(test)]\nmod tests {\n" + "".join(
        f"    #[test] fn adds_{i}() {{ assert_eq!({i}, {i if i not in (40, 140) else 7}); }}\n" for i in range(220)) + "}\n"}
    case("seen", "cargo-test", rs, "cargo test --offline", ["test tests::adds_40 ... FAILED", "test tests::adds_140 ... FAILED", "src/lib.rs:47:28", "left: 140", "test result: FAILED. 218 passed; 2 failed"])
    rb = {"Cargo.toml": rs["Cargo.toml"], "src/main.rs": "fn main() {\n    let unused = 5;\n    let s: String = 5;\n    println!(\"{}\", t);\n    let v = vec![1];\n    let w = v;\n    println!(\"{:?}\", v);\n}\n"}
    case("held", "cargo-build", rb, "cargo build --offline --verbose", ["error[E0308]: mismatched types", "error[E0425]: cannot find value `t`", "src/main.rs:4:20", "could not compile `ledger`"])
    java = "public class Main {\n  static void pay(int i) { if (i == 500) throw new IllegalStateException(\"account 500 is closed\"); System.out.println(\"paid \" + i); }\n  public static void main(String[] a) {\n    try { for (int i = 0; i < 900; i++) pay(i); }\n    catch (Exception e) { throw new RuntimeException(\"batch aborted\", e); }\n  }\n}\n"
    case("seen", "java-trace", {"Main.java": java}, "java Main.java", ["java.lang.RuntimeException: batch aborted", "Caused by: java.lang.IllegalStateException: account 500 is closed", "at Main.pay(Main.java:2)"])
    case("held", "go-panic", {"go.mod": "module p\n\ngo 1.26\n", "main.go": "package main\n\nimport \"fmt\"\n\nfunc at(s []int, i int) int { return s[i] }\n\nfunc main() {\n\tfor i := range 800 {\n\t\tfmt.Println(\"row\", i, \"done\")\n\t}\n\tat(make([]int, 3), 9)\n}\n"}, "go run .",
         ["panic: runtime error: index out of range [9] with length 3", "main.go:5", "goroutine 1 [running]:", "exit status 2"])


def other_cases():
    many = "for i in $(seq 400); do echo line $i > f$i.txt; done; git init -q -b main .; git add .; git commit -qm first; "
    case("seen", "git-commit", {}, "git commit -am 'Rename all of the labels'", ["[main ", "400 files changed, 400 insertions(+), 400 deletions(-)"], setup=many + "for i in $(seq 400); do echo new $i > f$i.txt; done")
    case("held", "git-merge", {}, "git merge other", ["CONFLICT (content): Merge conflict in f7.txt", "CONFLICT (content): Merge conflict in f200.txt", "Automatic merge failed; fix conflicts and then commit the result."],
         setup=many + "git checkout -q -b other; for i in $(seq 200); do echo theirs $i > f$i.txt; done; git commit -qam theirs; git checkout -q main; for i in 7 200; do echo ours > f$i.txt; done; git commit -qam ours")
    case("held", "git-status", {}, "git status", ["On branch main", "modified:   f3.txt", "no changes added to commit"], setup=many + "for i in $(seq 390); do echo new > f$i.txt; done; mkdir u; for i in $(seq 90); do touch n$i; done")
    case("seen", "git-diff", {}, "git diff --stat -p", ["400 files changed"], setup=many + "for i in $(seq 400); do echo new $i > f$i.txt; done")
    for group, log, name in (("seen", "apt-clang.log", "apt"), ("held", "apt-cmake.log", "apt")):
        if (WORK / log).exists():
            case(group, name, {}, f"cat {WORK / log}", ["newly installed"])
    case("held", "pip", {}, "python3 -m venv v && v/bin/pip install -v no-such-package-rekal==9", ["ERROR: Could not find a version that satisfies the requirement no-such-package-rekal==9", "ERROR: No matching distribution found"])
    case("seen", "log", {"l.sh": "for i in $(seq 3000); do echo \"2026-11-22T10:$((i/60%60)):$((i%60))Z INFO request id=$((i*7919)) path=/v1/items took=$((i%90))ms\"; if [ $i = 1700 ]; then echo '2026-11-22T10:28:20Z ERROR pool exhausted: 64 of 64 connections in use'; fi; done"}, "bash l.sh",
         ["ERROR pool exhausted: 64 of 64 connections in use"])
    case("held", "progress", {"p.py": "import sys\nfor i in range(2000):\n    sys.stdout.write('\\rDownloading model %3d%% [%s]' % (i//20, '#'*(i//50)))\nprint()\nfor i in range(300): print('\\x1b[32mok\\x1b[0m shard-%04d' % i)\nprint('\\x1b[31merror\\x1b[0m: checksum of shard-0300 differs')\nsys.exit(3)\n"}, "python3 p.py",
         ["checksum of shard-0300 differs"])


if __name__ == "__main__":
    go_cases(); py_cases(); js_cases(); c_cases(); other_cases()
