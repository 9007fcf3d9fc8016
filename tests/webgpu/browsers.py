"""Headless browsers, driven with nothing but Python's own library, and where the tests find them and lavapipe, Mesa's Vulkan on a CPU."""

import base64
import json
import os
import pathlib
import select
import shutil
import socket
import subprocess
import tempfile
import time

LAVAPIPE = next(pathlib.Path("/usr/share/vulkan/icd.d").glob("lvp_icd*.json"), None)
LONGEST_WAIT = 600  # seconds, which only a browser that hangs takes


class Browser:
    """A process that has a folder of its own for all that it writes."""

    @classmethod
    def find(cls):
        """The program, or None where it is not installed."""
        return next(filter(None, map(shutil.which, cls.NAMES)), None)

    def __init__(self, program):
        self.folder = tempfile.mkdtemp(prefix=f"duogemm-{type(self).__name__.lower()}-")
        self.process = None
        try:
            self.start(program)
        except BaseException:
            self.close()
            raise

    def close(self):
        if self.process:
            self.process.terminate()
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Chromium(Browser):
    """Through the DevTools protocol on a pair of pipes, which need no port. SwiftShader plays the GPU."""
    NAMES = ("chromium", "chromium-browser", "google-chrome")
    FLAGS = ("--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--no-first-run", "--disable-extensions",
             "--disable-background-networking", "--disable-backgrounding-occluded-windows", "--disable-dev-shm-usage", "--disable-gpu-watchdog",
             "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader")

    def start(self, program):
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()
        # The browser has them as 3 and 4.
        shell = ["sh", "-c", f'exec "$0" "$@" 3<&{commands} 4>&{answers}']
        self.process = subprocess.Popen([*shell, program, *self.FLAGS, f"--user-data-dir={self.folder}", "about:blank"],
                                        pass_fds=(commands, answers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.received, self.number, self.session = b"", 0, None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def message(self, deadline):
        while b"\0" not in self.received:
            if not select.select([self.answers], [], [], max(deadline - time.monotonic(), 0))[0]:
                raise TimeoutError("Chromium does not answer")
            content = os.read(self.answers, 1 << 20)
            if not content:
                raise EOFError("Chromium has ended")
            self.received += content
        message, self.received = self.received.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters, **({"sessionId": self.session} if self.session else {})}
        os.write(self.commands, json.dumps(command).encode() + b"\0")
        deadline = time.monotonic() + LONGEST_WAIT
        while (answer := self.message(deadline)).get("id") != self.number:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def open(self, url):
        self.call("Page.navigate", url=url)

    def evaluate(self, script):
        """The value of an expression."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:2000])
        return answer["result"].get("value")

    def look(self, width, dark):
        """As on a screen so wide, in light or dark."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def picture(self, file):
        content = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        file.write_bytes(base64.b64decode(content))


class Firefox(Browser):
    """Through Marionette, its own protocol. Lavapipe plays the GPU."""
    NAMES = ("firefox-esr", "firefox")
    PREFERENCES = {"dom.webgpu.enabled": True, "gfx.webgpu.ignore-blocklist": True, "app.update.enabled": False,
                   "datareporting.policy.dataSubmissionEnabled": False, "browser.shell.checkDefaultBrowser": False,
                   "marionette.port": 0}

    def start(self, program):
        with open(f"{self.folder}/user.js", "w") as preferences:
            for name, value in self.PREFERENCES.items():
                preferences.write(f'user_pref("{name}", {json.dumps(value)});\n')
        environment = dict(os.environ, VK_ICD_FILENAMES=str(LAVAPIPE), VK_DRIVER_FILES=str(LAVAPIPE), HOME=self.folder)
        self.process = subprocess.Popen([program, "--headless", "--marionette", "--no-remote", "--profile", self.folder], env=environment,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.number = 0
        self.socket = self.connection()
        self.message()
        self.call("WebDriver:NewSession", {})

    def connection(self):
        """To the port that Firefox has chosen, which it writes into its folder."""
        port = pathlib.Path(self.folder, "MarionetteActivePort")
        deadline = time.monotonic() + LONGEST_WAIT
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise EOFError("Firefox has ended")
            try:
                return socket.create_connection(("127.0.0.1", int(port.read_text())), timeout=LONGEST_WAIT)
            except (OSError, ValueError):  # The file is not there, or not whole.
                time.sleep(0.1)
        raise TimeoutError("Firefox does not answer")

    def receive(self, most):
        content = self.socket.recv(most)
        if not content:
            raise EOFError("Firefox has ended")
        return content

    def message(self):
        """Length, colon, JSON."""
        length = b""
        while not length.endswith(b":"):
            length += self.receive(1)
        content = b""
        while len(content) < int(length[:-1]):
            content += self.receive(int(length[:-1]) - len(content))
        return json.loads(content)

    def call(self, command, parameters):
        self.number += 1
        content = json.dumps([0, self.number, command, parameters]).encode()
        self.socket.sendall(str(len(content)).encode() + b":" + content)
        _, _, error, result = self.message()
        if error:
            raise RuntimeError(f"{command}: {error}")
        return result

    def open(self, url):
        self.call("WebDriver:Navigate", {"url": url})

    def evaluate(self, script):
        return self.call("WebDriver:ExecuteScript", {"script": f"return {script}", "args": []})["value"]
