"""`wug score` with files of answers as people have them: piped, compressed, from Windows, or made to fill the memory."""

import gzip
import json
import os
import resource
import shutil
import struct
import subprocess
import tempfile
import unittest
import zipfile
from pathlib import Path

WUG = os.environ["WUG"]
SIZES = {"training": 40, "validation-short": 10, "validation-long": 10, "test": 20, "test-short-held-out": 5, "test-edit-distance": 5}


def limited():
    """A gigabyte of memory."""
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))


class Score(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = Path(cls.folder.name)
        sizes = [part for name, size in SIZES.items() for part in ("--set", f"{name}.size={size}")]
        cls.data = cls.root / "parity"
        subprocess.run([WUG, "data", "flare/parity", "--out", cls.data, "--format", "jsonl", *sizes], check=True, capture_output=True)
        rows = [json.loads(line) for path in sorted(cls.data.glob("*.jsonl")) for line in path.read_text().splitlines()]
        # Strings that are in several splits have a line for each.
        cls.lines = [json.dumps({"string": row["string"], "log_odds": float(row["label"]) - 0.5}) for row in rows]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def score(self, answers, content=None, **options):
        out = self.root / "out"
        if content is not None:
            (self.root / answers).write_bytes(content)
            answers = self.root / answers
        command = [WUG, "score", self.data, answers, "--learner", "mine", "--out", out, "--json"]
        done = subprocess.run(command, capture_output=True, check=False, **options)
        written = out.exists()
        shutil.rmtree(out, ignore_errors=True)
        return done.returncode, done.stderr.decode(), written

    def text(self):
        return "\n".join(self.lines).encode()

    def test_answers_are_read_from_a_pipe(self):
        for name in ["-", "/dev/stdin"]:
            code, said, written = self.score(name, input=self.text())
            self.assertEqual((code, written), (0, True), said)
        code, said, written = self.score("-", input=b"{}\n")
        self.assertEqual((code, written), (2, False))
        self.assertIn("stdin, line 1: ", said)

    def test_repeated_lines_are_allowed(self):
        self.assertEqual(self.score("twice.jsonl", self.text() + b"\n" + self.text())[0], 0)

    def test_a_byte_order_mark_is_skipped(self):
        self.assertEqual(self.score("bom.jsonl", b"\xef\xbb\xbf" + self.text())[0], 0)

    def test_what_is_no_text_is_named(self):
        for name, content, expected in [
            ("answers.jsonl.gz", gzip.compress(self.text()), "answers.jsonl.gz is compressed by gzip; unpack it: `gunzip -c FILE | wug"),
            ("answers.jsonl", "\n".join(self.lines).encode("utf-16"), "answers.jsonl is UTF-16; write it as UTF-8"),
            ("answers.npy", b"\x93NUMPY\x01\x00", "an .npz file with an array per split: numpy.savez"),
        ]:
            code, said, written = self.score(name, content)
            self.assertEqual((code, written), (2, False))
            self.assertIn(expected, said)

    def test_certain_probabilities_are_refused(self):
        for p in [0, 1]:
            line = json.dumps({"string": json.loads(self.lines[0])["string"], "probability": p}).encode()
            code, said, written = self.score("certain.jsonl", line)
            self.assertEqual((code, written), (2, False))
            self.assertIn(f"line 1: `probability` is {p}; it must be above 0 and below 1", said)

    def test_an_archive_that_unpacks_to_a_gigabyte_is_refused_first(self):
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (250000000,), }"
        path = self.root / "bomb.npz"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("test.npy", "w") as array:
            array.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
            for _ in range(1000):
                array.write(bytes(1_000_000))
        code, said, written = self.score(path, preexec_fn=limited)
        self.assertEqual((code, written), (2, False), said)
        self.assertIn("`test`: its shape [250000000] has 250000000 rows, but the split has 20 strings", said)


if __name__ == "__main__":
    unittest.main()
