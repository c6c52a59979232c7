"""A real browser without a window, for the pages that we write.

``browser`` is a fixture: ``page = browser.open(path)``, then ``browser.driver`` (selenium), ``browser.errors()`` and
``browser.picture(path)``. Tests that ask for it are skipped where there is no Chromium with its driver.
"""

from __future__ import annotations

import base64
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

__all__ = ["Browser", "browser"]

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--force-device-scale-factor=1",
    "--host-resolver-rules=MAP * ~NOTFOUND",  # a page that asks for anything elsewhere fails, and its console says so
)  # fmt: skip


@dataclass
class Browser:
    """A running Chromium."""

    driver: Any
    """Of selenium."""

    def open(
        self,
        page: Path,
        address: str = "",
        *,
        scheme: Literal["light", "dark"] = "light",
        width: int = 1280,
        height: int = 900,
    ) -> None:
        """Open a file; errors of an earlier page are forgotten.

        Args:
            page: The file.
            address: What follows its name, such as ``#head=1``.
            scheme: The colours that the reader prefers.
            width: Of the window, in CSS pixels.
            height: Of the window, in CSS pixels.
        """
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        self.driver.get("about:blank")  # a new hash alone would not load the page again
        self.driver.get_log("browser")
        self.driver.get(page.resolve().as_uri() + address)

    def errors(self) -> list[str]:
        """Return what the console has said since the last time."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def run(self, script: str, *arguments: object) -> Any:
        """Run a script in the page, and give back what it returns."""
        return self.driver.execute_script(script, *arguments)

    def wait_for(self, selector: str) -> None:
        """Wait until there is an element that a selector of CSS finds: what an event makes comes when the browser has time."""
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.driver, timeout=60).until(
            lambda _: self.run("return document.querySelector(arguments[0]) !== null", selector)
        )

    def text(self, selector: str) -> str:
        """Return the text of the first element that a selector of CSS finds, with single spaces."""
        return " ".join(self.run("return document.querySelector(arguments[0]).textContent", selector).split())

    def press(self, selector: str, *keys: str) -> None:
        """Put the focus on an element, and press keys: ``ARROW_DOWN``, ``ENTER``, ``ESCAPE`` ..."""
        from selenium.webdriver.common.keys import Keys

        self.run("document.querySelector(arguments[0]).focus()", selector)
        for key in keys:
            self.driver.switch_to.active_element.send_keys(getattr(Keys, key))

    def click(self, selector: str) -> None:
        """Click on the middle of an element, as a mouse does."""
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.by import By

        element = self.driver.find_element(By.CSS_SELECTOR, selector)
        self.run("arguments[0].scrollIntoView({block: 'center'})", element)
        ActionChains(self.driver).move_to_element(element).click().perform()

    def picture(self, out: Path) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """Write a picture of the whole page, below the window's edge too, and return it as ``[height, width, 3]``.

        Args:
            out: A ``.png``.
        """
        from PIL import Image

        width, height = self.run("return [innerWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
        out.write_bytes(base64.b64decode(shot["data"]))
        with Image.open(out) as image:
            return np.asarray(image.convert("RGB"))

    def overflow(self) -> int:
        """Return by how many pixels the page is wider than its window."""
        return int(self.run("return document.documentElement.scrollWidth - innerWidth"))


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser for all tests of the session, with a new and empty profile."""
    program = next(filter(None, map(shutil.which, _BROWSERS)), None)
    driver_program = shutil.which("chromedriver")
    if program is None or driver_program is None:
        pytest.skip("there is no Chromium with chromedriver here")
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in (*_FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('browser')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver_program))  # never downloads one
    try:
        yield Browser(driver)
    finally:
        driver.quit()
