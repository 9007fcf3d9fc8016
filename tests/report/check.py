#!/usr/bin/env python3
"""Makes a report of what the program measures, and of copies that say what a GPU would, and opens the page in a browser.

  tests/report/check.py <program>

Ends with 77 where a device, matplotlib, Jinja2 or Chromium is missing; without Chromium the page is checked as far as it can be.
"""

import copy
import html
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench" / "plots"))  # for ladder
sys.path.append(str(ROOT / "tests" / "webgpu"))
sys.dont_write_bytecode = True

from browsers import Chromium  # noqa: E402

# What a browser makes of the page on a telephone, all that is folded opened, written where the test finds it.
TELEPHONE = 400
PROBE = """<!DOCTYPE html><html><body><iframe width="WIDTH" height="2000" style="border: 0" srcdoc="PAGE"></iframe><script>
window.addEventListener("load", () => {
  const page = document.querySelector("iframe").contentDocument;
  page.querySelectorAll("details").forEach(details => { details.open = true; });
  const pictures = [...page.querySelectorAll("svg[role=img]")];
  const size = text => {
    const picture = text.ownerSVGElement;
    return parseFloat(getComputedStyle(text).fontSize) * picture.getBoundingClientRect().width / picture.viewBox.baseVal.width;
  };
  const beyond = text => {
    const [inner, outer] = [text, text.ownerSVGElement].map(element => element.getBoundingClientRect());
    return inner.left < outer.left - 1 || inner.right > outer.right + 1 || inner.top < outer.top - 1 || inner.bottom > outer.bottom + 1;
  };
  const off = element => {
    const box = element.getBoundingClientRect();
    return box.left < -1 || box.right > page.documentElement.clientWidth + 1;
  };
  document.body.dataset.probe = JSON.stringify({
    width: page.documentElement.clientWidth, content: page.documentElement.scrollWidth,
    pictures: pictures.length, shown: pictures.filter(picture => picture.getBoundingClientRect().width > 300).length,
    smallest: Math.min(...[...page.querySelectorAll("svg text")].map(size)),
    beyond: [...page.querySelectorAll("body *:not(svg, svg *)")].filter(off).map(element => element.outerHTML.slice(0, 80)),
    cut: [...page.querySelectorAll("svg text")].filter(beyond).map(text => text.textContent),
    paper: getComputedStyle(page.body).backgroundColor, ink: getComputedStyle(page.querySelector("svg text")).fill});
});
</script></body></html>
"""
TIMES = "\u00d7"  # a sign of multiplication


def expect(condition, message):
    if not condition:
        sys.exit(f"FAILED: {message}")


def run_program(*command, cwd=None):
    return subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True)


def measure(program, folder):
    """Small result files of every kind, by name."""
    written = {}
    (folder / "shapes.txt").write_text("cube 32 32 32\nwide 8 64 32\n")
    trace = folder / "trace.jsonl"
    trace.write_text('{"schema":"duogemm.trace/1"}\n{"m":16,"n":16,"k":16,"times":3}\n')
    quick = ["--seconds", "0.01"]
    for name, arguments in {"ladder": ["ladder", "--kernels", "1,2,8,9,11,nv", "--size", "128", *quick],
                            "explain": ["explain", "--diff", "1:11", "--size", "128", *quick],
                            "compare": ["compare", "--shapes", folder / "shapes.txt", "--seconds", "0.001"],
                            "accuracy": ["accuracy", "--inputs", "unit,graded", "-k", "1,33", "--size", "16"],
                            "replay": ["replay", trace],
                            "line": ["sweep", "--kernel", "2", "--over", "size=32:64:16", *quick],
                            "map": ["sweep", "--kernel", "6", "--over", "WPTM=2:4", "--over", "size=32:64:x2", *quick]}.items():
        file = folder / f"{name}.json"
        done = run_program(program, *arguments, "--json", file)
        if "device was found" in done.stderr:
            print(f"skipped: {done.stderr.strip()}")
            sys.exit(77)
        expect(done.returncode == 0, f"{name}: {done.stderr}{done.stdout}")
        written[name] = file
    return written


def change(files, name, copy, edit):
    """A copy of a result file with something else in it."""
    document = json.loads(files[name].read_text())
    edit(document)
    files[copy] = files[name].with_name(f"{copy}.json")
    files[copy].write_text(json.dumps(document))


def pretend(files):
    """What other runs and a GPU would have written."""
    def switched(document):
        for row in document["runs"][0]["rows"]:
            row["tunables"].update({name: 0 for name in row["tunables"] if name == "USE_LDG"})

    def through_both(document):
        run = copy.deepcopy(document["runs"][0])
        run["device"]["backend"] = "cuda"
        run["bandwidth"] = {"cache": 1e12, "memory": 1e11}
        document["runs"].append(run)
    change(files, "ladder", "switched", switched)
    change(files, "ladder", "both", through_both)
    change(files, "compare", "f16x3", lambda document: document.update(precision="f16x3"))
    change(files, "compare", "callers", lambda document: document.update(through="blas", callers=8))


def words(markup):
    """What a reader sees of it."""
    return " ".join(html.unescape(re.sub("<[^>]*>", "", markup)).split())


def cells_of(text):
    """The cells of a table's rows."""
    return [[words(cell) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, flags=re.DOTALL)]
            for row in re.findall(r"<tr[^>]*>(.*?)</tr>", text, flags=re.DOTALL)]


def headings_of(text):
    return [words(heading) for heading in re.findall(r"<h[12][^>]*>(.*?)</h[12]>", text)]


def check_page(page, pictures):
    text = page.read_text()
    expect('<meta name="viewport" content="width=device-width' in text, "the page does not tell telephones how wide it is")
    headings = headings_of(text)
    expect(len(headings) == len(set(headings)), f"headings are there twice: {headings}")
    contents = [words(entry) for entry in re.findall(r"<li><a [^>]*>(.*?)</a></li>", text)]
    expect(contents == headings[1:], f"the table of contents has {contents}, the page {headings}")
    names = set(re.findall(r'\bid="([^"]*)"', text))
    expect(names.issuperset(re.findall(r'(?:url\(|href=")#([^")]*)', text)), "a picture uses what is not there, or the contents do")
    drawn = re.findall(r"<svg .*?</svg>", text, flags=re.DOTALL)
    expect(len(drawn) == len(pictures), f"{len(drawn)} pictures in the page, {len(pictures)} beside it")
    for picture in drawn:
        titles = [words(title) for title in re.findall(r"<title>(.*?)</title>", picture)]
        expect("Sweep" in picture[:200] or titles, f"a picture shows nothing under the pointer: {picture[:200]}")
        expect(all(re.search(r"\d", title) for title in titles), f"a title has no figure: {titles}")
    labels = [html.unescape(label) for label in re.findall(r'<svg [^>]*role="img" aria-label="([^"]*)"', text)]
    expect(len(labels) == len(pictures), "a picture has no words")
    for label in labels:
        expect(len(re.findall(r"\d[\d.,]*", label.split(". ", 1)[1])) >= 2, f"words of a picture have no figures: {label}")
    outside = [target for target in re.findall(r'(?:src|href)="([^"]*)"', text) if not target.startswith(("#", "data:"))]
    expect(not outside and not re.search(r"url\((?!#)|https?://", text), f"the page needs something from elsewhere: {outside}")
    expect("library" not in text, "the page speaks of a library, and not of cuBLAS, OpenBLAS or duogemm")
    if "<details" in text:
        expect(text.index("<details") > text.rindex("<h2"), "warnings are not folded at the end")


def check_climb(page, documents):
    """The climb stands first, and its figures and those of the picture are the file's."""
    text = page.read_text()
    expect(text.index("<table") < text.index("<svg "), "a picture stands before the climb")
    heads, *rows = cells_of(text[:text.index("</table>")])
    run = documents[0]["runs"][0]
    expect(heads[:2] == ["rung", "GFLOP/s"] and heads[3:] == ["times the rung before", f"of {run['reference']['name'].split()[0]}", "limited by"],
           f"the first table has the heads {heads}")
    label = html.unescape(re.search(r'aria-label="(The climb[^"]*)"', text)[1])
    for row, cells in zip(run["rows"], rows):
        speed = f"{row['gflops']:,.0f}" if row["gflops"] >= 100 else f"{row['gflops']:.1f}" if row["gflops"] >= 1 else f"{row['gflops']:.2g}"
        expect(cells[0].startswith(f"{row['rung']} {row['kernel']}".strip()) and cells[0].endswith(row["idea"]) and cells[1] == speed,
               f"a row of the table is {cells}")
        expect(f" {speed}" in label, f"the words of the climb lack {speed}")
        share = 100 * row["gflops"] / run["reference"]["gflops"]
        expect(cells[4] == (f"{share:.0f}%" if share >= 1 else f"{share:.1f}%"), f"the share of {run['reference']['name']} is {cells[4]}")
    expect(rows[-2][0] == run["reference"]["name"] and rows[-1][0].startswith("measured peak"), f"the table ends with {rows[-2:]}")
    shares = [float(share) for share in re.findall(r'<i style="width: ([\d.]+)%">', text)]
    expect(max(shares) == 100 and min(shares) > 0, f"bars are {shares} wide")
    return rows


def check_longer_ladder(program, folder, ladder):
    """A rung that is not there yet after 11, duogemm's own kernel, a device that nobody explained, and a file that is there twice."""
    document = json.loads(ladder.read_text())
    (run,) = document["runs"]
    found = {row["rung"]: row for row in run["rows"]}
    run["rows"] += [dict(found["9"], rung="12", kernel="later", idea="a later idea", gflops=100.0),
                    dict(found["9"], rung="", kernel="duogemm", idea="its own kernel", gflops=150.0)]
    files = [folder / "longer.json", folder / "again.json"]
    for file in files:
        file.write_text(json.dumps(document))
    done = run_program(program, "report", *files, "-o", folder / "longer")
    expect(done.returncode == 0, done.stderr)
    page = folder / "longer" / "index.html"
    check_page(page, list((folder / "longer").glob("*.svg")))
    rows = {row[0]: row for row in check_climb(page, [document])}
    later, own = rows["12 later a later idea"], rows["duogemm its own kernel"]
    expect(later[3] == f"{TIMES}{100 / found['11']['gflops']:.2f}", f"rung 12: {later}")
    expect(own[3] == f"{TIMES}1.50 on rung 12", f"duogemm's own: {own}")
    expect(rows[f"1 naive {found['1']['idea']}"][5] == "", f"nobody measured what limits it: {rows}")


def check_steps():
    """A rung that the device cannot run is no step."""
    import ladder
    rows = [{"rung": "15", "kernel": "split", "idea": "i", "tunables": {}, "gflops": 10.0},
            {"rung": "16", "kernel": "packed", "idea": "i", "tunables": {}, "unsupported": "a CPU"},
            {"rung": "17", "kernel": "tensor", "idea": "t", "tunables": {}, "gflops": 20.0}]
    expect(ladder.times_before(rows[1], rows) is None, "a rung that cannot run has a factor")
    expect(ladder.times_before(rows[2], rows)[0] == 2 and ladder.rung_before(rows[2], rows) == "on rung 15", "a rung stands on one that cannot run")
    expect(ladder.ranges(["9", "7", "nv", "8", "10", "12", "nv"]) == "7\u201310, 12, nv", "a label of several rungs")


def check_headings(page):
    """They tell apart what was measured in another way, and every kind of section is there."""
    text = page.read_text()
    for heading in ("The climb .*USE_LDG=1 USE_SHUFFLE=0", "The climb .*USE_LDG=0 USE_SHUFFLE=0", "duogemm versus .*, by f16x3, hot operands",
                    "duogemm versus .*, through blas, 8 threads at once, hot operands", "The climb in pictures ", "What switches change ",
                    "Speed and bounds ", "What main loops consist of ", "Programs from their first call on ", "Accuracy ", "Sweep over "):
        expect(any(map(re.compile(heading).match, headings_of(text))), f"no heading says {heading!r}")
    expect("speed through OpenCL / through CUDA" in text, "OpenCL and CUDA are not compared")
    expect([row for row in cells_of(text) if len(row) == 6 and row[0].startswith("1 naive") and "%" in row[5]],
           "the table does not tell by an explanation what limits rung 1")


def probe(page, browser, folder, scheme):
    probed = folder / "probed.html"
    probed.write_text(PROBE.replace("WIDTH", str(TELEPHONE)).replace("PAGE", html.escape(page.read_text(), quote=True)))
    done = run_program(browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'browser'}",
                       "--virtual-time-budget=20000", f"--blink-settings=preferredColorScheme={scheme}", "--dump-dom", probed.as_uri())
    found = re.search(r'data-probe="([^"]*)"', done.stdout)
    expect(found, f"{browser} did not show the page: {done.stderr[-500:]}")
    return json.loads(html.unescape(found[1]))


def check_in_browser(page, browser, folder):
    dark, light = (probe(page, browser, folder, scheme) for scheme in (0, 1))
    for seen in (dark, light):
        expect(seen["pictures"] == seen["shown"] > 0, f"{browser} shows {seen['shown']} of {seen['pictures']} pictures")
        expect(seen["content"] <= seen["width"] <= TELEPHONE, f"on a screen of {TELEPHONE} pixels the page takes {seen['content']}")
        expect(not seen["beyond"], f"on a screen of {TELEPHONE} pixels these stand beyond the edge: {seen['beyond'][:5]}")
        expect(not seen["cut"], f"words are cut off at the edge of a picture: {seen['cut']}")
        expect(seen["smallest"] >= 9, f"letters are {seen['smallest']:.1f} pixels high on a screen of {TELEPHONE}")
    expect(dark["paper"] != light["paper"] and dark["ink"] != light["ink"], f"dark and light: {dark}, {light}")
    print(f"{browser} shows {light['pictures']} pictures, letters of at least {light['smallest']:.1f} pixels")


def check_refusals(program, folder, ladder):
    """In one line that says why."""
    def refused(file, target, word):
        done = run_program(program, "report", file, "-o", target)
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and word in done.stderr,
               f"of {file.read_text()[:40]!r} it ends with {done.returncode} and says: {done.stderr}")

    whole, deep, bad = ladder.read_text(), "[" * 100_000 + "]" * 100_000, folder / "bad.json"
    for text, word in (("{}", "schema"), ("no json", "JSON"), (deep, "nested"), ('{"a":' + deep + "}", "nested"), ("1" * 5000, "JSON"),
                       (re.sub(r'"gflops": [0-9.e+-]+', f'"gflops": {"9" * 400}', whole), "bad.json"),
                       (re.sub(r'"m": [0-9]+', f'"m": {"[" * 300}{"]" * 300}', whole), "bad.json"),
                       *((whole.replace(f'"{name}"', '"other"'), name) for name in ("gflops", "tunables", "date"))):
        bad.write_text(text)
        refused(bad, folder / "none", word)
    (folder / "file").write_text("")
    for nowhere in (folder / "file" / "below", pathlib.Path("/proc/nowhere")):
        refused(ladder, nowhere, str(nowhere))
    expect(not (folder / "none").exists(), "a refused report left a folder")


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        files = measure(program, folder)
        pretend(files)
        done = run_program(program, "report", *files.values(), "-o", folder / "report")
        if done.returncode == 2 and "python3-matplotlib" in done.stderr:
            print(f"skipped: {done.stderr.strip()}")
            sys.exit(77)
        expect(done.returncode == 0, done.stderr)
        page = folder / "report" / "index.html"
        pictures = sorted((folder / "report").glob("*.svg"))
        expect(len(pictures) > len(files), f"only {len(pictures)} pictures")
        for picture in pictures:
            expect(picture.with_suffix(".png").stat().st_size > 5000, f"{picture.stem}.png is missing or empty")
        check_page(page, pictures)
        check_headings(page)
        check_longer_ladder(program, folder, files["ladder"])
        check_steps()
        check_refusals(program, folder, files["ladder"])
        browser = Chromium.find()
        if not browser:
            print("skipped: there is no Chromium (package chromium) to open the page in; all else is as it should be")
            sys.exit(77)
        check_in_browser(page, browser, folder)


if __name__ == "__main__":
    main()
