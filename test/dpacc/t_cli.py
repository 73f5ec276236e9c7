#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""comch-dpacc as build scripts call it: options, errors, and what it leaves.

usage: t_cli.py COMCH-DPACC COMPILER...
"""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

DPACC = sys.argv[1]
COMPILER = shlex.join(sys.argv[2:])

KERNEL = "__dpa_global__ void kernel(unsigned long arg) { (void)arg; }\n"
# Sources, and what the error says after "bad_dev.c:".
BAD = (
    ("\n__dpa_global__ void k(int a, ...) { }\n", "2: error: 'k' has a variable number"),
    ("static __dpa_global__ void k(void) { }\n", "1: error: 'k' is static: the host"),
    ("__dpa_rpc__ static\ninline long k(void) { }\n", "2: error: 'k' is static: the host"),
    ("__dpa_rpc__\ninline long k(void) { }\n", "2: error: 'k' is inline: the host"),
    ("__dpa_global__ void\n\nk(a) int a; { }\n", "3: error: 'k' has old-style parameters"),
    ("__dpa_global__ int k(void) { return 0; }\n", "1: error: 'k' is a kernel but returns int"),
    ("__dpa_global__ void *k(void) { }\n", "1: error: 'k' is a kernel but returns void *"),
    ("__dpa_global__ k(void) { }\n", "1: error: 'k' is a kernel but returns int"),
    ("__dpa_rpc__ long f(int, int b) { return b; }\n", "1: error: parameter 1 of 'f' has no name"),
    ("__dpa_rpc__ long f(int a, struct s) { }\n", "1: error: parameter 2 of 'f' has no name"),
    ("__dpa_rpc__ long f(unsigned long long *) { }\n", "1: error: parameter 1 of 'f' has no"),
    ("__dpa_rpc__ long (*f(int a))(int) { }\n", "1: error: expected __dpa_rpc__ TYPE"),
    ("__dpa_rpc__ long f(void);\n__dpa_global__ long f(void) { return 0; }\n",
     "2: error: 'f' is marked both as a kernel and as an RPC"),
    ("__dpa_rpc__ __dpa_global__ void f(void) { }\n", "1: error: 'f' is marked both as a"),
    (KERNEL + "#line 100\n" + KERNEL, "100: error: 'kernel' is defined twice"),
    ("/*\n*/\n#error no\n" + KERNEL, "3:2: error: "),
    ("#include <no/such.h>\n", "1:10: fatal error: "),
    ("__dpa_global__ void k(int a)\n{\n\treturn b;\n}\n", "3:"),
    ("struct s { int a; };\n__dpa_rpc__ struct s f(int a) { struct s s = { a }; return s; }\n",
     "2:"),
)
GOOD = (
    "",
    "typedef int fn(int);\n__dpa_rpc__ unsigned long f(fn g) { return (unsigned long)g(1); }\n",
    "__dpa_rpc__ unsigned long f(int a[const 2]) { return (unsigned long)*a; }\n",
    "extern __dpa_rpc__ unsigned f(char (*const a)[3]) { return (unsigned)a[0][1]; }\n",
    "[[gnu::cold]] __dpa_global__ void f(int a) { (void)a; }\n",
    "__extension__ __dpa_rpc__ unsigned long f(__typeof__(1 + (2)) a) { return a > 0; }\n",
    'struct { int a; } s __dpa_global__ = { .a = 1 };\nchar c[] = "__dpa_global__ \\" { ;";\n',
    "typedef unsigned long t __dpa_global__;\n__dpa_rpc__ t f(t a) { return a; }\n",
    "int x = '{', y = '\\'';\n__dpa_rpc__ _Bool f(_Bool a) { return !a; }\n",
    "enum e { A, B };\n__dpa_rpc__ enum e f(enum e a) { return a; }\n",
    "void (*table[])(unsigned long) = { 0 };\n_Static_assert(sizeof(table) > 0, \"\");\n",
    'void other(void) __asm__("another");\n__dpa_global__ void f(void) { other(); }\n',
    "#pragma GCC poison strcpy\n__dpa_global__ void f(void) { }\n",
    "__dpa_global__ void f(void) { struct { int a; } s = { 1 }; if (s.a) { return; } }\n",
    "#define f(x) f\n__dpa_global__ void f(0) (int a) { (void)a; }\n",
    "\ufeff" + KERNEL,
    KERNEL.rstrip("\n"),
)


class Cli(unittest.TestCase):
    """Each test has a directory of its own, where it also is."""

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.dir)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.dir)
        for place in ("src", "out", "tmp", "include"):
            (self.dir / place).mkdir()
        self.source("k_dev.c", KERNEL)

    def source(self, name, text):
        """Write a source, and return its path."""
        path = self.dir / "src" / name
        path.write_text(text)
        return str(path)

    def call(self, *words, status=0, directory=None):
        """Call comch-dpacc, and return what it says."""
        environment = dict(os.environ, TMPDIR=str(directory or self.dir / "tmp"))
        done = subprocess.run([DPACC, *words], env=environment, check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, status, f"{words}: {done.stdout}")
        self.assertEqual(list((self.dir / "tmp").iterdir()), [], "left behind")
        return done.stdout

    def build(self, *words, source="src/k_dev.c", **kinds):
        """Call it with what no call is without."""
        return self.call(source, "-o", "out/k.a", "-app-name", "app", "-hostcc", COMPILER,
                         *words, **kinds)

    def symbols(self, archive="out/k.a"):
        """Return {name: kind} of what an archive has."""
        text = subprocess.run(["nm", archive], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        return {line.split()[-1]: line.split()[-2] for line in text.splitlines()
                if len(line.split()) > 1}

    def test_spellings(self):
        """Options that have a value, spelled in all ways."""
        options = {
            "app-name": "app", "hostcc": COMPILER, "hostcc-options": "-Wall -Wextra",
            "devicecc-options": "-O1 -DX", "mcpu": "nv-dpa-bf3,nv-dpa-cx7", "march": "x",
            "device-libs": "-L/x -ldoca_dpa_dev", "dpa-proc-attr": "/no/such.blob",
            "I": "include", "D": "Y=1", "U": "Z", "std": "gnu11", "keep-dir": "out/keep",
            "L": "/x", "l": "m", "isystem": "include", "include": "stdint.h", "o": "out/k.a",
            "output-file": "out/k.a",
        }
        for dashes in "-", "--":
            for joined in False, True:
                words = []
                for name, value in options.items():
                    words += [f"{dashes}{name}={value}"] if joined else [dashes + name, value]
                with self.subTest(words=words):
                    self.build(*words)
                    self.assertEqual(self.symbols()["kernel"], "T")
                    pathlib.Path("out/k.a").unlink()
                    shutil.rmtree("out/keep")

    def test_flags(self):
        """Options without a value, and those of compilers."""
        nothing = ["-flto", "--flto", "-flto=thin", "-disable-asm-checks", "-L/x", "-lm"]
        words = ["-Iinclude", "-DX=1", "-UX", "-O2", "-O", "-Ofast", "-g", "-ggdb", "-g3", "-Wall",
                 "-Wno-x", "-pedantic", "-w", "-MMD", "-MP", "-std=c11"]
        said = self.build("-v", *nothing, *words)
        command = next(line for line in said.splitlines() if " -c " in line).split()
        self.assertEqual(set(words) - set(command), set())
        self.assertEqual(set(nothing) & set(command), set())

    def test_usage(self):
        """What is wrong with a call is said, and the status is 2."""
        needed = ["src/k_dev.c", "-o", "out/k.a", "-app-name=app"]
        for words, text in (
                ([], "missing: SOURCE, -o ARCHIVE, -app-name NAME (try --help)"),
                (needed[:1], "missing: -o ARCHIVE, -app-name NAME (try --help)"),
                (needed[:1] + needed[3:], "missing: -o ARCHIVE (try --help)"),
                (needed[:3], "missing: -app-name NAME (try --help)"),
                (needed[:3] + ["-app-name="], "missing: -app-name NAME (try --help)"),
                (needed[1:], "missing: SOURCE (try --help)"),
                (needed + ["-fpic"], "unknown option '-fpic'"),
                (needed + ["--optimise=3"], "unknown option '--optimise=3'"),
                (needed + ["-c"], "'-c' is not supported: name all sources"),
                (needed + ["--gen-libs"], "'--gen-libs' is not supported"),
                (needed + ["-v=1"], "-v has no value"),
                (needed + ["-mcpu"], "-mcpu needs a value: DPA,..."),
                (needed + ["x.o"], "'x.o': expected a C source"),
                (needed + ["-"], "'-': expected a C source"),
                (needed + ["src/k_dev.c"], "a source is given twice"),
                (needed + ["-app-name=my-app"], "'my-app' is not a C identifier"),
                (needed + ["-app-name=1x"], "'1x' is not a C identifier"),
                (needed + ["-hostcc="], "-hostcc is empty"),
                (needed + ["-hostcc=a 'b"], "-hostcc: No closing quotation"),
                (needed + ["-hostcc-options=\"x"], "-hostcc-options: No closing quotation")):
            with self.subTest(words=words):
                said = self.call(*words, status=2)
                self.assertTrue(said.startswith("comch-dpacc: "), said)
                self.assertIn(text, said)
                self.assertEqual(said.count("\n"), 1, said)
        self.assertEqual(os.listdir("out"), [])

    def test_files(self):
        """What is wrong with a file is said, and nothing is left half written."""
        pathlib.Path("out/k.a").write_text("old")
        self.assertIn("no.c: No such file", self.build(source="no.c", status=1))
        pathlib.Path("dir.c").mkdir()
        self.assertIn("dir.c: Is a directory", self.build(source="dir.c", status=1))
        self.assertIn("cannot write 'no/k.a': No such file", self.build("-o=no/k.a", status=1))
        self.assertIn("cannot write 'src': Is a directory", self.build("-o=src", status=1))
        self.assertIn("compiler 'nocc' not found", self.build("-hostcc=nocc", status=1))
        self.assertIn("src/k_dev.c: false has failed", self.build("-hostcc=false", status=1))
        self.assertIn("app: ", self.build("-hostcc-options=-include none.h", status=1))
        if os.geteuid() != 0:
            pathlib.Path("src/k_dev.c").chmod(0)
            self.assertIn("src/k_dev.c: Permission denied", self.build(status=1))
        self.assertEqual(pathlib.Path("out/k.a").read_text(), "old")
        self.assertEqual(os.listdir("out"), ["k.a"])

    def test_bad_sources(self):
        """An error points to the user's line."""
        for text, where in BAD:
            with self.subTest(text=text):
                path = self.source("bad_dev.c", text)
                said = self.build(source=path, status=1)
                self.assertIn(f"{path}:{where}", said)
                self.assertNotIn("Traceback", said)
        self.assertEqual(os.listdir("out"), [])

    def test_good_sources(self):
        """C as it may be written, without a warning about it or about our code."""
        for text in GOOD:
            with self.subTest(text=text):
                path = self.source("good_dev.c", text)
                said = self.build("-devicecc-options=-Wall -Wextra -Wshadow -Wundef -Wconversion "
                                  "-Wmissing-declarations -Wcast-qual -Wpedantic -Werror "
                                  "-Wno-missing-declarations -std=gnu2x -Wno-pedantic",
                                  "-hostcc-options=-Wall -Wextra -Wpedantic -Werror", source=path)
                kernels = text.count("\n__dpa") + text.startswith(("__dpa", "[[", "ext", "__ext"))
                if kernels > 0:
                    self.assertEqual(said, "")

    def test_nothing_marked(self):
        """No function is nothing to fail for, but to be told."""
        said = self.build(source=self.source("n_dev.c", "int x;\n"))
        self.assertEqual(said, "comch-dpacc: warning: no function is marked __dpa_global__ or "
                         "__dpa_rpc__\n")
        self.assertEqual(self.symbols()["app"], "D")

    def test_warnings(self):
        """Those about the user's code are there, with its lines, and may be errors."""
        path = self.source("w_dev.c", "#include <stdint.h>\n" + KERNEL + "\n\n"
                           "__dpa_rpc__ uint64_t f(int a)\n{\n\tint unused;\n\treturn 0;\n}\n")
        said = self.build("-Wall", "-Wextra", source=path)
        self.assertRegex(said, rf"(?m)^{path}:7:\d+: warning: unused variable")
        self.assertRegex(said, rf"(?m)^{path}:5:\d+: warning: unused parameter")
        self.assertEqual(said.count("warning: "), 2, said)
        said = self.build("-Wall", "-devicecc-options", "-Werror", source=path, status=1)
        self.assertRegex(said, rf"(?m)^{path}:7:\d+: error: unused variable")

    def test_several(self):
        """Several sources are one program."""
        one = self.source("one_dev.c", "int helper(void);\nint helper(void) { return 1; }\n" + KERNEL)
        two = self.source("two_dev.c", "int helper(void);\n\n"
                          "__dpa_rpc__ long f(void) { return helper(); }\n")
        self.build(two, source=one)
        symbols = self.symbols()
        self.assertEqual({name for name, kind in symbols.items() if kind in "TDBRCVW"},
                         {"app", "kernel", "f"})
        self.assertEqual(symbols["helper"], "t")
        three = self.source("three_dev.c", "int helper(void);\nint helper(void) { return 3; }\n"
                            "__dpa_global__ void app(void) { }\n")
        said = self.build(three, source=one, status=1)
        self.assertIn(f"{three}:3: error: 'app' is also the application's name", said)
        said = self.build(three, "-app-name=other", source=one, status=1)
        self.assertIn("multiple definition of `helper'", said.replace("symbol: helper",
                      "multiple definition of `helper'"))
        os.mkdir("src/more")
        four = self.source("more/one_dev.c", "\n" + KERNEL)
        said = self.build(four, source=one, status=1)
        self.assertIn(f"{four}:2: error: 'kernel' is also defined in {one}:3", said)
        five = self.source("more/k_dev.c", KERNEL.replace("kernel", "other"))
        self.build(five)
        self.assertIn("other", self.symbols())

    def test_headers(self):
        """Found next to the source, by options, and ours without any."""
        os.mkdir("src/more")
        self.source("more/near.h", "typedef int near_t;\n")
        (self.dir / "include" / "far.h").write_text("typedef int far_t;\n")
        self.source("more/h_dev.c", '#include "near.h"\n#include <far.h>\n'
                    "#include <doca_dpa_dev.h>\n#include <doca_dpa_dev_buf.h>\n"
                    "__dpa_rpc__ uint64_t f(near_t a, far_t b, doca_dpa_dev_completion_t c)\n"
                    "{\n\treturn (uint64_t)(a + b) + c;\n}\n")
        self.assertEqual(self.build("-Iinclude", "-Wall", "-Werror", source="src/more/h_dev.c"), "")
        self.build("-devicecc-options=, -O2,-DA,-Iinclude, ,-ggdb", source="src/more/h_dev.c")
        os.chdir("src/more")
        self.call("h_dev.c", "-o", "k.a", "-app-name=app", "-I../../include")
        said = self.call("h_dev.c", "-o", "k.a", "-app-name=app", status=1)
        self.assertIn("h_dev.c:2:10: fatal error: far.h", said.replace("'", "").replace("file not", ""))

    def test_options_of_the_dpa(self):
        """Those that only its compiler has do no harm."""
        said = self.build("--devicecc-options=-mcmodel=medany -march=rv64g -flto "
                          "-ffreestanding -DFLEXIO_DEV_ALLOW_EXPERIMENTAL_API")
        self.assertEqual(said, "")
        self.assertEqual(self.symbols()["kernel"], "T")
        said = self.build("--devicecc-options=-Werror -Wstrange-warning")
        self.assertIn("does not support '-Wstrange-warning': ignored", said)
        self.assertEqual(said.count("\n"), 1, said)
        self.build("-hostcc-options=-flto -Wall", f"-hostcc={COMPILER} -flto")
        self.assertEqual(self.symbols()["app"], "D")
        self.assertEqual(self.symbols()["kernel"], "T")

    def test_where_options_go(self):
        """Those of the device code, of the application's object, and of the machine."""
        said = self.build("-v", "-devicecc-options=-DDEVICE", "-hostcc-options=-DHOST")
        commands = [line for line in said.splitlines() if " -c " in line]
        self.assertEqual([("-DDEVICE" in line, "-DHOST" in line) for line in commands],
                         [(True, False), (False, True)])
        said = self.build("-dryrun", "-hostcc-options=-m64 -Wall")
        for line in said.splitlines():
            self.assertEqual("-m64" in line, " ar " not in f" {line}".replace("/", " ") and
                             "objcopy" not in line, line)
        said = self.build("-dryrun", "-devicecc-options=-m32", "-hostcc-options=--sysroot /")
        for line in said.splitlines():
            if line.startswith(shlex.split(COMPILER)[0]):
                self.assertIn(" --sysroot=/ -m32 ", line)
        self.build("-devicecc-options=-fsanitize=undefined -g -fno-sanitize-recover=all",
                   source=self.source("u_dev.c", "__dpa_rpc__ int f(int a) { return a + a; }\n"))
        self.assertTrue(any("ubsan" in name for name in self.symbols()))

    def test_output(self):
        """The same from the same, whatever the directory of temporary files."""
        words = ("-g", "-O2", "-devicecc-options=-D_GNU_SOURCE")
        self.build(*words)
        first = pathlib.Path("out/k.a").read_bytes()
        other = self.dir / "a longer name for it"
        other.mkdir()
        self.build(*words, directory=other)
        self.assertEqual(pathlib.Path("out/k.a").read_bytes(), first)
        self.assertNotIn(str(self.dir).encode() + b"/tmp", first)
        text = subprocess.run(["objdump", "--dwarf=info", "out/k.a"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        self.assertRegex(text, r"DW_AT_name .*src/k_dev\.c")

    def test_commas(self):
        """A comma is between options only before something that looks like one."""
        path = self.source("c_dev.c", "#define ADD(a, b) ((a) + (b))\n#define OF(x) ADD(x)\n"
                           "_Static_assert(OF(RANGE) == 2, \"\");\n" + KERNEL)
        self.build("--devicecc-options=-DRANGE=3,-1,-O2,-Wall", source=path)

    def test_dependencies(self):
        """Rules for make name the user's files, and no others."""
        self.source("near.h", "")
        path = self.source("d_dev.c", '#include "near.h"\n#include <stdint.h>\n' + KERNEL)
        near = str(self.dir / "src" / "near.h")
        self.build("-devicecc-options=-MMD", source=path)
        self.assertEqual(pathlib.Path("out/d_dev.d").read_text().split(), ["out/k.a:", path, near])
        self.build("-MMD", "-MT", "x.a", "-keep-dir", "out/keep", source=path)
        self.assertEqual(pathlib.Path("out/keep/d_dev.d").read_text().split(), ["x.a:", path, near])
        self.build("-MMD", source=self.source("a b#c.c", KERNEL))
        self.assertIn(f" {self.dir}/src/a\\ b\\#c.c",
                      pathlib.Path("out/a b#c.d").read_text())
        self.source("k_dev.c", "")
        self.build("src/k_dev.c", "-devicecc-options=-MD -MP -MFout/deps -MT t.a", source=path)
        text = pathlib.Path("out/deps").read_text()
        for wanted in ("t.a: src/k_dev.c", f"{near}:\n", "stdint.h", "comch_doca_dpa_app.h"):
            self.assertIn(wanted, text)
        self.assertNotIn(str(self.dir / "tmp"), text)

    def test_killed(self):
        """Nothing is left behind by one that is killed."""
        script = self.dir / "slow"
        script.write_text("#!/bin/sh\ncase $* in *-c*) kill $PPID ;; *) exec "
                          f'{COMPILER} "$@" ;; esac\n')
        script.chmod(0o755)
        self.build(f"-hostcc={script}", status=143)
        self.assertEqual(os.listdir("out"), [])

    def test_keep(self):
        """Intermediate files where they are asked for."""
        self.build("-keep")
        self.assertTrue(pathlib.Path("out/k.a.dpacc/app/app.c").exists())
        self.build("-keep-dir", "out/deep/er")
        self.assertTrue(pathlib.Path("out/deep/er/0/k_dev.c").exists())
        shutil.rmtree("out")
        os.mkdir("out")
        said = self.build("-dryrun", "-keep")
        self.assertEqual(os.listdir("out"), [])
        self.assertIn(" -E src/k_dev.c", said)
        self.assertIn("--keep-global-symbol=app", said)

    def test_said(self):
        """--help and --version."""
        for word in ("-h", "-help", "--help"):
            said = self.call(word)
            self.assertIn("usage: comch-dpacc SOURCE", said)
            self.assertIn("-mcpu", said)
            self.assertLess(max(map(len, said.splitlines())), 101)
        self.assertRegex(self.call("--version"), r"^comch-dpacc \d+\.\d+")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
