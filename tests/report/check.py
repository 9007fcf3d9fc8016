#!/usr/bin/env python3
"""Makes a report of the recorded results and of what the program measures now, and opens the page in a browser.

  tests/report/check.py <program>

Ends with 77 where matplotlib or Chromium is missing; the page itself is then checked as far as it can be.
"""

import base64
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

# What a browser makes of the pictures, written where the test finds it.
PROBE = """<script>
window.addEventListener("load", () => {
  const pictures = [...document.images];
  const good = pictures.filter(picture => picture.complete && picture.naturalWidth > 100 && picture.alt);
  document.body.dataset.pictures = `${good.length} of ${pictures.length}`;
});
</script>
"""


def expect(condition, message):
    if not condition:
        sys.exit(f"FAILED: {message}")


def run(*command, cwd=None):
    return subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True)


def measure(program, folder):
    """Small result files of every kind that this machine can write."""
    written = []
    trace = folder / "trace.jsonl"
    trace.write_text('{"schema":"duogemm.trace/1"}\n{"m":16,"n":16,"k":16,"times":3}\n')
    quick = ["--seconds", "0.01"]
    for name, arguments in {"ladder": ["ladder", "--kernels", "1,2,11", "--size", "64", *quick],
                            "explain": ["explain", "--diff", "1:11", "--size", "64", *quick],
                            "replay": ["replay", trace],
                            "line": ["sweep", "--kernel", "2", "--over", "size=32:64:16", *quick],
                            "map": ["sweep", "--kernel", "6", "--over", "WPTM=2:4", "--over", "size=32:64:x2", *quick]}.items():
        file = folder / f"{name}.json"
        done = run(program, *arguments, "--json", file)
        if done.returncode == 0:
            written.append(file)
        else:
            expect("device" in done.stderr, f"{name}: {done.stderr}{done.stdout}")
    return written


def check_page(page, pictures):
    text = page.read_text()
    sources = re.findall(r'<img [^>]*src="([^"]*)"', text)
    expect(len(sources) == len(pictures), f"{len(sources)} pictures in the page, {len(pictures)} beside it")
    for source in sources:
        head, _, data = source.partition(",")
        expect(head == "data:image/svg+xml;base64", f"a picture comes from {head[:80]}")
        expect(b"<svg" in base64.b64decode(data), "a picture is no SVG")
    without_pictures = re.sub(r'src="data:[^"]*"', "", text)
    expect(not re.search(r'(src|href)="|url\(|https?://', without_pictures), "the page needs something from elsewhere")


def check_in_browser(page, browser, folder):
    probed = folder / "probed.html"
    probed.write_text(page.read_text().replace("</body>", PROBE + "</body>"))
    done = run(browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'browser'}", "--virtual-time-budget=20000",
               "--dump-dom", probed.as_uri())
    found = re.search(r'data-pictures="(\d+) of (\d+)"', done.stdout)
    expect(found, f"{browser} did not show the page: {done.stderr[-500:]}")
    expect(found[1] == found[2] and int(found[1]) > 0, f"{browser} shows {found[0]}")
    print(f"{browser} shows {found[1]} pictures")


def check_refused(done, *words):
    """In one line with these words."""
    expect(done.returncode == 2 and done.stderr.count("\n") == 1 and all(word in done.stderr for word in words),
           f"it ends with {done.returncode} and says: {done.stderr}")


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    recorded = sorted((ROOT / "bench" / "results").glob("*.json"))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        results = recorded + measure(program, folder)
        done = run(program, "report", *results, "-o", folder / "report")
        if done.returncode == 2 and "python3-matplotlib" in done.stderr:
            print(f"skipped: {done.stderr.strip()}")
            sys.exit(77)
        expect(done.returncode == 0, done.stderr)
        page = folder / "report" / "index.html"
        pictures = sorted((folder / "report").glob("*.svg"))
        expect(len(pictures) >= len(recorded), f"only {len(pictures)} pictures")
        for picture in pictures:
            expect(picture.with_suffix(".png").stat().st_size > 5000, f"{picture.stem}.png is missing or empty")
        check_page(page, pictures)
        for bad, word in (("{}", "schema"), ("no json", "JSON")):
            (folder / "bad.json").write_text(bad)
            refused = run(program, "report", folder / "bad.json", "-o", folder / "none")
            expect(refused.returncode == 2 and word in refused.stderr and refused.stderr.count("\n") == 1,
                   f"of {bad!r} it says: {refused.stderr}")
        whole = next(file for file in recorded if file.name == "cpu_opencl.json").read_text()
        for spoil, word in (("gflops", "gflops"), ("tunables", "tunables"), ("date", "date")):
            (folder / "bad.json").write_text(whole.replace(f'"{spoil}"', '"other"'))
            check_refused(run(program, "report", folder / "bad.json", "-o", folder / "none"), "bad.json", word)
        (folder / "file").write_text("")
        for nowhere in (folder / "file" / "below", pathlib.Path("/proc/nowhere")):
            check_refused(run(program, "report", recorded[0], "-o", nowhere), str(nowhere))
        expect(not (folder / "none").exists(), "a refused report left a folder behind")
        browser = next(filter(None, map(shutil.which, BROWSERS)), None)
        if not browser:
            print("skipped: there is no Chromium (package chromium) to open the page in; all else is as it should be")
            sys.exit(77)
        check_in_browser(page, browser, folder)


if __name__ == "__main__":
    main()
