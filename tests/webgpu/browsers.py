"""Headless browsers for check_page.py, driven with nothing but Python's own library."""

import base64
import json
import os
import select
import shutil
import socket
import subprocess
import tempfile
import time


class Chromium:
    """Through the DevTools protocol on a pair of pipes, which need no port. SwiftShader plays the GPU."""
    NAMES = ("chromium", "chromium-browser", "google-chrome")
    FLAGS = ("--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--no-first-run", "--disable-extensions",
             "--disable-background-networking", "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader")

    def __init__(self, program):
        self.folder = tempfile.mkdtemp(prefix="duogemm-chromium-")
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
        deadline = time.monotonic() + 120
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

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Firefox:
    """Through Marionette, its own protocol. Mesa's lavapipe plays the GPU."""
    NAMES = ("firefox-esr", "firefox")
    PREFERENCES = {"dom.webgpu.enabled": True, "gfx.webgpu.ignore-blocklist": True, "app.update.enabled": False,
                   "datareporting.policy.dataSubmissionEnabled": False, "browser.shell.checkDefaultBrowser": False}

    def __init__(self, program, driver):
        self.folder = tempfile.mkdtemp(prefix="duogemm-firefox-")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with open(f"{self.folder}/user.js", "w") as preferences:
            for name, value in {**self.PREFERENCES, "marionette.port": port}.items():
                preferences.write(f'user_pref("{name}", {json.dumps(value)});\n')
        environment = dict(os.environ, VK_ICD_FILENAMES=str(driver), VK_DRIVER_FILES=str(driver), HOME=self.folder)
        self.process = subprocess.Popen([program, "--headless", "--marionette", "--no-remote", "--profile", self.folder], env=environment,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.number = 0
        deadline = time.monotonic() + 60
        while True:
            try:
                self.socket = socket.create_connection(("127.0.0.1", port), timeout=180)
                break
            except OSError:
                if time.monotonic() > deadline:
                    self.close()
                    raise TimeoutError("Firefox does not answer") from None
                time.sleep(0.1)
        self.message()
        self.call("WebDriver:NewSession", {})

    def message(self):
        """Length, colon, JSON."""
        length = b""
        while not length.endswith(b":"):
            length += self.socket.recv(1)
        content = b""
        while len(content) < int(length[:-1]):
            content += self.socket.recv(int(length[:-1]) - len(content))
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

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
