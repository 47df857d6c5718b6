// Opens a report in Chromium and checks that it draws, sorts and fits.
//
//     npm ci && node check.mjs REPORT.html [OUTDIR]
//
// CHROMIUM names the browser; /usr/bin/chromium otherwise. Screenshots go to OUTDIR.
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [file, outDir] = process.argv.slice(2);
if (!file) {
  console.error("usage: node check.mjs REPORT.html [OUTDIR]");
  process.exit(2);
}
const address = pathToFileURL(resolve(file)).href;
const counts = { passed: 0, failed: 0 };

function check(claim, holds, detail = "") {
  counts[holds ? "passed" : "failed"] += 1;
  if (!holds) console.log(`FAILED ${claim}${detail && `: ${detail}`}`);
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
  ],
});

/** Runs `visit` on the report and checks that nothing complained or went out. */
async function open(name, options, visit) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const complaints = [];
  const requests = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(address, { waitUntil: "load" });
  await visit(page);
  check(`${name}: no errors`, complaints.length === 0, complaints.join("; "));
  const outside = requests.filter((url) => url !== address);
  check(`${name}: no requests`, outside.length === 0, outside.join(" "));
  await context.close();
}

/** What each chart drew: size, series and shapes in a colour that only data have. */
const drawings = (page) => page.evaluate(() => {
  const style = getComputedStyle(document.documentElement);
  const names = ["accent", "muted", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"];
  const probe = document.createElement("i");
  document.body.append(probe);
  const plain = (colour) => {
    probe.style.color = "";
    probe.style.color = colour;
    return getComputedStyle(probe).color;
  };
  const palette = new Set(names.map((name) => plain(style.getPropertyValue(`--${name}`).trim())));
  const charts = [...document.querySelectorAll("[data-chart]")].map((element) => {
    const svg = element.querySelector("svg");
    const box = svg?.getBoundingClientRect();
    const option = echarts.getInstanceByDom(element)?.getOption();
    const inGrid = [...(svg?.querySelectorAll("path, polyline") ?? [])].filter((shape) => {
      const own = shape.getBoundingClientRect();
      const coloured = ["fill", "stroke"].some((side) => palette.has(plain(shape.getAttribute(side) ?? "")));
      return coloured && own.width + own.height > 0;
    });
    return {
      id: element.id,
      label: element.getAttribute("aria-label") ?? "",
      sized: Boolean(box && box.width > 50 && box.height > 50),
      series: option?.series?.length ?? 0,
      shapes: inGrid.length,
    };
  });
  probe.remove();
  return charts;
});

async function checkCharts(name, page) {
  const charts = await drawings(page);
  for (const { id, label, sized, series, shapes } of charts) {
    check(`${name}: ${id} is drawn`, sized && series > 0 && shapes > 0, `${series} series, ${shapes} shapes`);
    check(`${name}: ${id} is described`, label.length > 20, label);
  }
  return charts.length;
}

async function checkFits(name, page) {
  const wider = await page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const inBox = (element) => element.closest(".scroll, nav, pre");
    const culprits = [...document.body.querySelectorAll("*")]
      .filter((own) => own.getBoundingClientRect().right > width + 1 && !inBox(own) && !own.closest("svg"));
    return {
      overflow: document.documentElement.scrollWidth - width,
      culprits: culprits.slice(0, 3).map((own) => `${own.tagName}.${own.className}`),
    };
  });
  check(`${name}: no sideways scrolling`, wider.overflow <= 0, `${wider.overflow} px, ${wider.culprits}`);
}

async function checkSorting(name, page) {
  const table = page.locator("#trials table[data-sortable]").first();
  if ((await table.count()) === 0) return;
  const values = () => table.locator("tbody tr td:first-child").allTextContents();
  const before = (await values()).map(Number);
  const button = table.locator("thead th button").first();
  await button.click();
  const upwards = (await values()).map(Number);
  await button.click();
  const downwards = (await values()).map(Number);
  const sorted = [...before].sort((a, b) => a - b);
  check(`${name}: a click sorts upwards`, String(upwards) === String(sorted));
  check(`${name}: a second click sorts downwards`, String(downwards) === String(sorted.reverse()));
  await button.click();
}

async function checkTabs(name, page) {
  const tabs = page.locator('[role="tab"]');
  for (let index = 0; index < (await tabs.count()); index += 1) {
    await tabs.nth(index).click();
    const visible = await page.locator('[role="tabpanel"]:visible').count();
    check(`${name}: tab ${index + 1} shows one panel`, visible === 1, `${visible} panels`);
  }
  if ((await tabs.count()) > 1) await tabs.nth(1).click();
}

async function checkTrialChoice(name, page) {
  const select = page.locator("#resource-trial");
  const choices = await select.locator("option").count();
  if (choices < 2) return;
  const picture = () => page.locator("#resource-cpu svg").innerHTML();
  const before = await picture();
  await select.selectOption({ index: choices - 1 });
  check(`${name}: another trial draws other lines`, (await picture()) !== before);
  await select.selectOption({ index: 0 });
  check(`${name}: the first trial comes back`, (await picture()).length === before.length);
}

async function checkTheme(name, page, theme) {
  const light = await page.evaluate(() => {
    const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number);
    return r + g + b > 380;
  });
  check(`${name}: the page is ${theme}`, light === (theme === "light"));
}

async function checkThemeChange(page) {
  const ink = () => page.evaluate(() => document.querySelector("[data-chart] text")?.getAttribute("fill"));
  const before = await ink();
  if (!before) return;
  await page.emulateMedia({ colorScheme: "dark" });
  const followed = page.waitForFunction(
    (old) => document.querySelector("[data-chart] text").getAttribute("fill") !== old, before,
    { timeout: 5000 });
  check("theme: charts follow a change", await followed.then(() => true, () => false));
}

async function shoot(page, name) {
  if (!outDir) return;
  await mkdir(outDir, { recursive: true });
  await page.evaluate(() => scrollTo(0, 0));
  await page.screenshot({ path: join(outDir, `${name}-first.png`) });
  for (const section of await page.locator("main > section").all()) {
    const path = join(outDir, `${name}-${await section.getAttribute("id")}.png`);
    await section.screenshot({ path, style: "nav { position: static !important; }" });
  }
}

for (const width of [1280, 400]) {
  for (const theme of ["light", "dark"]) {
    const name = `${width}-${theme}`;
    const options = { viewport: { width, height: 900 }, colorScheme: theme };
    await open(name, options, async (page) => {
      await checkTheme(name, page, theme);
      const charts = await checkCharts(name, page);
      console.log(`${name}: ${charts} charts`);
      await checkFits(name, page);
      await checkSorting(name, page);
      await checkTabs(name, page);
      await checkTrialChoice(name, page);
      await shoot(page, name);
    });
  }
}
await open("theme", { colorScheme: "light" }, checkThemeChange);
await open("no script", { javaScriptEnabled: false }, async (page) => {
  check("no script: the verdict is readable", (await page.locator("#verdict h3").count()) > 0);
  check("no script: a note says what is missing", await page.getByText("Charts need JavaScript").isVisible());
  check("no script: no empty charts", (await page.locator("[data-chart]:visible").count()) === 0);
});
await browser.close();
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed === 0 ? 0 : 1);
