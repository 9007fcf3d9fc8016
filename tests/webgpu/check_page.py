#!/usr/bin/env python3
"""Opens the page of `duogemm page` in a browser and runs the ladder: check_page.py PROGRAM chromium|firefox [PICTURES]

With Chromium it also breaks shaders, interrupts a run, loses the device, saves a result, and looks at the page at two widths, of which it
leaves pictures in the folder PICTURES. Ends with 77 where the browser is missing, does not start, or has no WebGPU.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import browsers  # noqa: E402
from outcome import expect, skip  # noqa: E402

MOST_BYTES = 400_000
TELEPHONE = 400
# One slip in a rung's shader must turn its row red.
DEFECTS = [("1", "k < numbers.K", "k < numbers.K - 1"), ("3", "workgroupBarrier();", ""), ("6", "fma(a, b_1,", "fma(a, b_2,")]


def right(result):
    return result is not None and result.get("wrong") == 0 and result.get("beyond") == 0


class Visitor:
    """Presses the buttons of an open page."""

    def __init__(self, browser, file):
        self.browser = browser
        self.file = file
        self.reload()

    def reload(self):
        self.evaluate("void (window.page = undefined)")  # that of the page before, which stays for a moment
        self.browser.open(self.file.as_uri())
        self.wait("window.page && page.state !== 'starting'")

    def evaluate(self, script):
        return self.browser.evaluate(script)

    def holds(self, condition, deadline):
        try:
            return self.evaluate(f"Boolean({condition})")
        except RuntimeError:  # A browser that goes from one page to the next cannot tell.
            if time.monotonic() > deadline:
                raise
            return False

    def wait(self, condition):
        deadline = time.monotonic() + browsers.LONGEST_WAIT
        while not self.holds(condition, deadline):
            if time.monotonic() > deadline:
                sys.exit(f"FAILED: '{condition}' did not come about: {self.evaluate('document.body.innerText')[:2000]}")
            time.sleep(0.1)

    def size(self, size):
        """One that the page does not offer, too."""
        self.evaluate(f"document.getElementById('size').append(new Option({size})), document.getElementById('size').value = '{size}'")

    def run(self, rungs=None, timed=False):
        """The results of these rungs, or of all, by their numbers."""
        chosen = json.dumps(rungs)
        timed = json.dumps(timed)
        self.evaluate(f"void page.run(page.rungs.filter(view => !{chosen} || {chosen}.includes(view.rung.rung)), {timed})")
        self.wait("page.state !== 'running'")
        return self.results()

    def results(self):
        return self.evaluate("Object.fromEntries(page.rungs.map(view => [view.rung.rung, view.result]))")

    def look_of(self, rung):
        return self.evaluate(f"page.rungs.find(view => view.rung.rung === '{rung}').outcome.className")


def check_all_rungs(visitor, size):
    visitor.size(size)
    begin = time.monotonic()
    results = visitor.run()
    # Rung 17 needs tensor cores, whatever the device.
    failed = {rung: result for rung, result in results.items() if rung != "17" and not right(result)}
    expect(not failed, f"at {size}: {failed}")
    expect(results["17"]["unsupported"] == "an NVIDIA device of compute capability 8.0", f"rung 17: {results['17']}")
    print(f"{len(results) - 1} rungs are right at {size}, in {time.monotonic() - begin:.1f} s")


def check_defects(visitor):
    visitor.size(128)
    for rung, text, slip in DEFECTS:
        shader = f"page.rungs.find(view => view.rung.rung === '{rung}').variant"
        wgsl = visitor.evaluate(f"{shader}.wgsl")
        expect(text in wgsl, f"the shader of rung {rung} does not have '{text}'")
        visitor.evaluate(f"{shader}.wgsl = {json.dumps(wgsl.replace(text, slip, 1))}, 0")
        result = visitor.run([rung, "2"])
        expect(result[rung].get("wrong") and "bad" in visitor.look_of(rung), f"rung {rung} with '{slip}' for '{text}': {result[rung]}")
        expect(right(result["2"]) and "good" in visitor.look_of("2"), f"beside it, rung 2: {result['2']}")
        visitor.evaluate(f"{shader}.wgsl = {json.dumps(wgsl)}, 0")
    shader = "page.rungs[0].variant"
    visitor.evaluate(f"{shader}.wgsl = 'fn ' + {shader}.wgsl, 0")
    result = visitor.run(["1", "2"])
    expect("line 1" in result["1"].get("error", "") and right(result["2"]), f"a shader that does not compile: {result['1']}")
    print(f"{len(DEFECTS)} defects turned their row red, and a shader that does not compile its own")


def check_interruptions(visitor):
    visitor.reload()
    visitor.size(128)
    # The visitor presses Stop while the second rung runs.
    visitor.evaluate("void (page.rungs[1].show = function (result, ...rest) { if (result?.running) document.getElementById('stop').click(); "
                     "RungView.prototype.show.call(this, result, ...rest); })")
    results = visitor.run()
    expect(visitor.evaluate("page.state") == "stopped" and right(results["2"]) and results["3"] is None, f"after Stop: {results}")
    expect(visitor.evaluate("!document.getElementById('run').disabled"), "after Stop, the ladder cannot be run again")
    # The device is lost while the third runs: its row says so, and the next goes on with another.
    visitor.evaluate("void (page.rungs[1].show = RungView.prototype.show, page.rungs[2].show = function (result, ...rest) { "
                     "if (result?.running) page.gpu.device.destroy(); RungView.prototype.show.call(this, result, ...rest); })")
    results = visitor.run(["2", "3", "4"])
    expect("lost" in results["3"].get("error", "") and right(results["4"]), f"after the device was lost: {results['3']}, {results['4']}")
    print("a run was interrupted, and a device was lost")


def check_result(visitor, folder):
    """A timed run, and what it saves, which `duogemm report` draws."""
    visitor.reload()
    visitor.size(256)
    begin = time.monotonic()
    visitor.evaluate("void document.getElementById('run').click()")
    visitor.wait("page.results().length > 0")
    first = time.monotonic() - begin
    visitor.evaluate("void document.getElementById('stop').click()")
    visitor.wait("page.state !== 'running'")
    setting = "page.rungs[5].setting"
    visitor.evaluate(f"void ({setting}.selectedIndex = 1, {setting}.dispatchEvent(new Event('change')))")
    results = visitor.run(["1", "2", "6", "17"], True)
    expect(right(results["6"]) and results["6"]["time"]["seconds"], f"rung 6 with another setting: {results['6']}")
    expect(visitor.evaluate("page.peak > 0 && page.bandwidth > 0 && document.querySelectorAll('#roofs circle').length >= 3"),
           "there is no roofline")
    document = visitor.evaluate("page.document()")
    rows = {row["rung"]: row for row in document["runs"][0]["rows"]}
    expect(rows["6"]["tunables"] == visitor.evaluate("page.rungs[5].variant.tunables") and "unsupported" in rows["17"],
           f"the result file: {rows}")
    file = folder / "ladder_webgpu.json"
    file.write_text(json.dumps(document))
    print(f"the first result came after {first:.1f} s")
    return file


def check_look(browser, visitor, pictures):
    """Everything folds out, nothing is wider than a telephone, and all that can be pressed has a name."""
    visitor.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    for width in (1280, TELEPHONE):
        for dark in (False, True):
            browser.look(width, dark)
            wide = visitor.evaluate("document.documentElement.scrollWidth")
            expect(wide <= width, f"on a screen of {width} the page is {wide} wide")
            if pictures:
                browser.picture(pictures / f"page_{width}_{'dark' if dark else 'light'}.png")
    nameless = visitor.evaluate("[...document.querySelectorAll('button, select, [role=img]')].filter(each => "
                                "!(each.getAttribute('aria-label') || each.textContent.trim() || each.labels?.length)).length")
    expect(nameless == 0, f"{nameless} controls have no name")
    expect(visitor.evaluate("document.querySelectorAll('.rung details pre').length") > 40, "the code is not shown")


def check_without_webgpu(browser, page, folder):
    copy = folder / "without.html"
    copy.write_text(page.read_text().replace("navigator.gpu", "navigator.nothing"))
    visitor = Visitor(browser, copy)
    words = visitor.evaluate("document.getElementById('device').textContent")
    expect("has no WebGPU" in words, f"without WebGPU the page says: {words}")


def start(kind, name):
    binary = kind.find()
    if not binary:
        skip(f"{name} is not installed")
    if name == "firefox" and not browsers.LAVAPIPE:
        skip("lavapipe is not installed (package mesa-vulkan-drivers)")
    try:
        return kind(binary)
    except (EOFError, OSError, RuntimeError) as error:
        skip(f"{name} does not start: {error}")


def main():
    program, name = sys.argv[1:3]
    kind = {"chromium": browsers.Chromium, "firefox": browsers.Firefox}[name]
    pictures = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        page = folder / "ladder.html"
        refused = subprocess.run([program, "page", folder / "missing" / "ladder.html"], capture_output=True, text=True)
        expect(refused.returncode == 2 and refused.stderr.count("\n") == 1, f"a page that cannot be written: {refused.stderr}")
        subprocess.run([program, "page", page], check=True)
        expect(page.stat().st_size <= MOST_BYTES, f"the page has {page.stat().st_size} bytes")
        print(f"the page has {page.stat().st_size} bytes")
        browser = start(kind, name)
        try:
            visitor = Visitor(browser, page)
            words = visitor.evaluate("document.getElementById('device').textContent")
            if "has no WebGPU" in words or "no device for it" in words:
                skip(words)
            print(words)
            for size in (128, 75):
                check_all_rungs(visitor, size)
            if name == "chromium":
                check_defects(visitor)
                check_interruptions(visitor)
                result = check_result(visitor, folder)
                check_look(browser, visitor, pictures)
                check_without_webgpu(browser, page, folder)
                done = subprocess.run([program, "report", result, "-o", folder / "report"], capture_output=True, text=True)
                expect(done.returncode == 0 or (done.returncode == 2 and "python3-matplotlib" in done.stderr), f"duogemm report: {done.stderr}")
        finally:
            browser.close()


if __name__ == "__main__":
    main()
