// Opens live pages in Chromium: every page at two widths and in two themes, a running study, a
// server that is started again, and a table of many trials.
//
//     npm ci && node check.mjs PROGRAM [OUTDIR]
//
// CHROMIUM names the browser; /usr/bin/chromium otherwise. Screenshots go to OUTDIR.
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { chromium } from "playwright-core";

const [given, outDir] = process.argv.slice(2);
if (!given) {
  console.error("usage: node check.mjs PROGRAM [OUTDIR]");
  process.exit(2);
}
const program = resolve(given);
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const counts = { passed: 0, failed: 0 };
if (outDir) await mkdir(outDir, { recursive: true });

function check(claim, holds, detail = "") {
  counts[holds ? "passed" : "failed"] += 1;
  if (!holds) console.log(`FAILED ${claim}${detail && `: ${detail}`}`);
}

const folder = await mkdtemp(join(tmpdir(), "live-"));
const study = (name, more, command, replications) => `schema = 1
[study]
name = "${name}"
description = "How long a sleep takes"
[factors.lr]
levels = [0.001, 0.01, 0.1]
scale = "log"
[factors.batch]
levels = [16, 32, 64]
[design]
type = "full"
replications = ${replications}
[run]
command = ${command}
[metrics.loss]
from = "jsonl"
objective = "minimize"
${more}`;
const trial = `["sh", "-c", '''
for s in 1 2 3 4 5; do
  echo "{\\"loss\\": $(awk -v l={lr} -v b={batch} -v s=$s -v r={seed} 'BEGIN{srand(r); print 1/s + l*3 + b/100 + rand()/20}'), \\"step\\": $s}" >> "$TRAINWRIGHT_METRICS"
  echo "step $s"
  sleep PAUSE
done''']`;

const children = new Set();
function start(...args) {
  const child = spawn(program, args, { cwd: folder });
  children.add(child);
  child.output = "";
  child.stderr.on("data", (bytes) => { child.output += bytes; });
  child.stdout.resume();
  child.ended = new Promise((done) => child.on("exit", (code) => { children.delete(child); done(code); }));
  return child;
}

async function until(what, holds, patience = 30000) {
  const begun = Date.now();
  for (;;) {
    const value = await holds();
    if (value) return value;
    if (Date.now() - begun > patience) throw new Error(`${what} took longer than ${patience} ms`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

async function serve(listen, ...more) {
  const child = start("serve", folder, "--listen", listen, ...more);
  const address = await until("the server's start", () => child.output.match(/http:\/\/[^/]+/)?.[0]);
  return { child, address };
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
  ],
});

/** Runs `visit` on a page and checks that nothing complained and nothing went elsewhere. */
async function open(name, address, options, visit, mayComplain = false) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const complaints = [];
  const outside = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(new URL(address).origin) && !url.startsWith("data:")) outside.push(url);
  });
  await page.goto(address, { waitUntil: "load" });
  await visit(page);
  if (!mayComplain) check(`${name}: no errors`, complaints.length === 0, complaints.slice(0, 3).join("; "));
  check(`${name}: nothing from elsewhere`, outside.length === 0, outside.join(" "));
  await context.close();
}

async function checkFits(name, page) {
  const wider = await page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const inBox = (element) => element.closest(".scroll, nav, pre, svg, .choices, .skip, .hidden");
    const culprits = [...document.body.querySelectorAll("*")]
      .filter((own) => own.getBoundingClientRect().right > width + 1 && !inBox(own));
    return {
      overflow: document.documentElement.scrollWidth - width,
      culprits: culprits.slice(0, 3).map((own) => `${own.tagName}.${own.className}`),
    };
  });
  check(`${name}: no sideways scrolling`, wider.overflow <= 0, `${wider.overflow} px, ${wider.culprits}`);
}

async function checkCharts(name, page) {
  const empty = await page.evaluate(() => [...document.querySelectorAll("[data-chart]")]
    .filter((own) => !(own.querySelector("svg")?.querySelectorAll("path").length > 2))
    .map((own) => own.id));
  check(`${name}: every chart is drawn`, empty.length === 0, empty.join(" "));
}

/** Words of charts lie inside their chart, and the link to the page itself is in sight. */
async function checkInSight(name, page) {
  const cut = await page.evaluate(() => [...document.querySelectorAll("[data-chart] svg")].flatMap((svg) => {
    const whole = svg.getBoundingClientRect();
    // Pages of a legend that are not shown lie beside it.
    const texts = [...svg.querySelectorAll("text")].filter((own) => !own.closest("[clip-path]"));
    return texts.filter((own) => {
      const box = own.getBoundingClientRect();
      return box.width > 0 && (box.left < whole.left - 1 || box.right > whole.right + 1
        || box.top < whole.top - 1 || box.bottom > whole.bottom + 1);
    }).map((own) => own.textContent);
  }));
  check(`${name}: no words are cut off`, cut.length === 0, cut.slice(0, 3).join("; "));
  const seen = await page.evaluate(() => {
    const box = document.querySelector('nav [aria-current="page"]')?.getBoundingClientRect();
    return !box || (box.left >= 0 && box.right <= document.documentElement.clientWidth);
  });
  check(`${name}: the present page is in sight among the links`, seen);
}

async function checkUsable(name, page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  const grave = found.violations.filter((own) => ["serious", "critical"].includes(own.impact));
  check(`${name}: usable by all`, grave.length === 0,
    grave.map((own) => `${own.id} (${own.nodes.slice(0, 2).map((node) => node.html.slice(0, 120)).join(" | ")})`).join("; "));
}

const PAGES = ["", "design", "trials", "trials/1", "effects", "fit", "surface",
  "compare?c=1&c=2", "curves", "resources", "environment"];

async function everyPage(address) {
  const looks = [[1280, "light"], [1280, "dark"], [400, "light"], [400, "dark"]];
  for (const path of ["/", ...PAGES.map((own) => `/s/finished${own && "/"}${own}`), "/s/searched/search"]) {
    for (const [width, theme] of looks) {
      const name = `${path} at ${width}, ${theme}`;
      const options = { viewport: { width, height: 900 }, colorScheme: theme };
      await open(name, address + path, options, async (page) => {
        await checkFits(name, page);
        await checkCharts(name, page);
        await checkInSight(name, page);
        if (width === 1280 || theme === "light") await checkUsable(name, page);
        if (outDir) {
          const file = `${path.replaceAll(/[^a-z0-9]+/g, "-")}-${width}-${theme}.png`;
          await page.screenshot({ path: join(outDir, file), fullPage: true });
        }
      });
    }
  }
}

/** Names that are long, of other scripts or like markup leave every chart legible. */
async function longNames(address) {
  for (const path of ["effects", "compare?c=1&c=2&c=3", "curves", "resources"]) {
    for (const width of [1280, 400]) {
      const name = `long names, ${path} at ${width}`;
      await open(name, `${address}/s/named/${path}`, { viewport: { width, height: 900 } }, async (page) => {
        await checkFits(name, page);
        await checkCharts(name, page);
        const overlapping = await page.evaluate(() => [...document.querySelectorAll("[data-chart] svg")].flatMap((svg) => {
          const texts = [...svg.querySelectorAll("text")].filter((own) => own.textContent.trim())
            // A legend in pages is clipped beside its counter.
            .filter((own) => !/^\d+\/\d+$/.test(own.textContent));
          const boxes = texts.map((own) => own.getBoundingClientRect());
          return boxes.flatMap((a, at) => boxes.slice(0, at).map((b, other) => {
            const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            return wide > 2 && high > 4 ? `${texts[at].textContent} / ${texts[other].textContent}` : "";
          })).filter(Boolean);
        }));
        check(`${name}: no words lie on others`, overlapping.length === 0, overlapping.slice(0, 3).join("; "));
        if (outDir) {
          await page.screenshot({ path: join(outDir, `named-${path.replaceAll(/[^a-z]+/g, "-")}-${width}.png`), fullPage: true });
        }
      });
    }
  }
}

/** A page follows a study that runs, and a server that is started again. */
async function live(address, server) {
  const finished = (page) => page.evaluate(() =>
    Number(document.querySelector("#progress")?.textContent.match(/(\d+) finished/)?.[1] ?? 0));
  await open("a running study", `${address}/s/running`, { viewport: { width: 1280, height: 900 } }, async (page) => {
    const first = await finished(page);
    await page.evaluate(() => { globalThis.loadedOnce = true; scrollTo(0, 150); });
    const scrolled = await page.evaluate(() => scrollY);
    await until("a trial's end seen on the page", async () => (await finished(page)) > first);
    check("live: the page was not loaded anew", await page.evaluate(() => globalThis.loadedOnce === true));
    // What grows above the reader moves the page by as much.
    check("live: the page stayed where it was", await page.evaluate(() => scrollY) >= Math.min(scrolled, 100));
    // From the store to the page.
    const seen = await finished(page);
    let changed = 0;
    for (;;) {
      const told = await (await fetch(`${address}/api/v1/studies/running`)).json();
      if (told.trials.finished > seen) { changed = Date.now(); break; }
      await new Promise((done) => setTimeout(done, 20));
    }
    await until("the next end", async () => (await finished(page)) > seen);
    check("live: an end is seen within a second or so", Date.now() - changed < 2000, `${Date.now() - changed} ms`);

    server.child.kill("SIGTERM");
    await server.child.ended;
    const before = await finished(page);
    await until("the page's word that nobody answers", () =>
      page.evaluate(() => document.getElementById("connection").textContent.includes("does not answer")));
    server = await serve(new URL(address).host);
    await until("a change after the server's restart", async () => (await finished(page)) > before);
    check("live: the page survives a restart of the server", await page.evaluate(() => globalThis.loadedOnce === true));
  }, true);
  return server;
}

/** Output and curves of a trial that runs. */
async function growing(address) {
  await writeFile(join(folder, "long.toml"), study("long", "", trial.replace("1 2 3 4 5", "$(seq 400)").replace("PAUSE", "0.15"), 1));
  start("run", "long.toml");
  const told = await until("a running trial", async () => {
    const answer = await fetch(`${address}/api/v1/studies/long/trials?filter=state%20%3D%3D%20%22running%22`);
    return answer.ok && (await answer.json()).trials[0];
  });
  await open("a running trial", `${address}/s/long/trials/${told.trial}`, {}, async (page) => {
    const steps = () => page.evaluate(() => document.getElementById("stdout")?.textContent.split("\n").length ?? 0);
    const first = await steps();
    await until("more output", async () => (await steps()) > first);
    check("live: output grows", true);
    await until("a learning curve", () => page.evaluate(() => document.querySelector("#curve-1 svg path") !== null));
    check("live: the learning curve of a running trial is drawn", true);
  });
}

/** A visitor signs in and acts by the forms of the pages, as browsers send them. */
async function acting() {
  const token = "0123456789abcdef0123456789abcdef";
  await writeFile(join(folder, "stopping.toml"), study("stopping", "", trial.replace("PAUSE", "1"), 40));
  const runner = start("run", "stopping.toml");
  await writeFile(join(folder, "token"), token, { mode: 0o600 });
  const { child, address } = await serve("127.0.0.1:0", "--allow-actions", "--token-file", join(folder, "token"));
  await open("acting", address, {}, async (page) => {
    check("acting: a visitor is asked for the token", page.url().endsWith("/login"), page.url());
    await page.fill("#token", token);
    await page.click("button[type=submit]");
    await until("the studies", () => page.evaluate(() => document.querySelector("h1")?.textContent === "Studies"));
    await page.goto(`${address}/s/finished/trials/3`);
    await page.fill("#reason", "<i>the disk</i> was full");
    await page.click("text=Leave out");
    await until("the trial is left out", () => page.evaluate(() => document.body.textContent.includes("<i>the disk</i> was full")));
    await page.goto(`${address}/s/finished`);
    await page.fill("input[name=replications], input[type=number]", "1");
    await page.click("text=Add and run");
    const planned = () => page.evaluate(() => Number(document.querySelector("#progress")?.textContent.match(/(\d+) trials/)?.[1] ?? 0));
    await until("another replication", async () => (await planned()) === 27);
    await page.goto(`${address}/s/stopping`);
    await page.click("text=Stop the runner");
    const ended = await Promise.race([runner.ended, page.waitForTimeout(60_000).then(() => "still running")]);
    check("acting: the runner ends", ended === 130, `${ended}`);
    check("acting: forms of our own pages are taken", true);
  });
  child.kill("SIGTERM");
  await child.ended;
}

/** Ten thousand trials scroll smoothly; deep links, the back button and the keyboard work. */
async function many(address) {
  await open("many trials", `${address}/s/many/trials`, { viewport: { width: 1280, height: 900 } }, async (page) => {
    const frames = await page.evaluate(async () => {
      const box = document.getElementById("trials-scroll");
      const times = [];
      let last = performance.now();
      const end = last + 4000;
      let place = 0;
      await new Promise((done) => requestAnimationFrame(function step(now) {
        times.push(now - last);
        last = now;
        place += 400;
        box.scrollTop = place % box.scrollHeight;
        if (now < end) requestAnimationFrame(step);
        else done();
      }));
      times.sort((a, b) => a - b);
      return { worst: times.at(-1), middle: times[times.length >> 1], number: times.length };
    });
    console.log(`scrolling 10,000 trials: worst frame ${frames.worst.toFixed(0)} ms, middle ${frames.middle.toFixed(1)} ms of ${frames.number}`);
    const limit = Number(process.env.FRAME_LIMIT_MS ?? 100);
    check(`many: no frame over ${limit} ms`, frames.worst <= limit, `${frames.worst.toFixed(0)} ms`);
    const rows = await page.evaluate(() => document.querySelectorAll("#trials-scroll tbody tr").length);
    check("many: only rows in sight are in the page", rows < 200, String(rows));
    await page.evaluate(() => { document.getElementById("trials-scroll").scrollTop = 1e9; });
    await until("the last row", () => page.evaluate(() =>
      [...document.querySelectorAll("#trials-scroll tbody tr")].some((own) => own.ariaRowIndex === "10001" && own.cells.length > 2)));
    await page.locator("thead th a", { hasText: "loss" }).click();
    await page.waitForURL(/sort=loss/);
    await page.locator("#filter").fill("batch == 4 and loss < 0.5");
    await page.locator("#filter").press("Enter");
    await page.waitForURL(/filter=/);
    check("many: sorting stays when a filter is set", page.url().includes("sort=loss"));
    const words = await page.locator("#count").textContent();
    check("many: the filter is told", /of 10000 trials/.test(words), words);
    await page.goBack();
    check("many: the back button goes back", !page.url().includes("filter=batch"));
    await page.keyboard.press("Tab");
    const focused = await page.evaluate(() => document.activeElement.className);
    check("many: the first key leads to the content", focused === "skip", focused);
  });
}

async function makeMany() {
  let table = "lr,batch,depth,loss\n";
  const levels = Array.from({ length: 10 }, (_, place) => 2 ** place);
  for (const lr of levels) for (const batch of levels) for (let depth = 1; depth <= 10; depth += 1) {
    for (let copy = 0; copy < 10; copy += 1) {
      table += `${lr},${batch},${depth},${(Math.abs(lr - 16) / 100 + batch / 300 / depth + ((copy * 7919) % 97) / 970).toFixed(5)}\n`;
    }
  }
  await writeFile(join(folder, "many.csv"), table);
  const list = `[${levels}]`;
  await writeFile(join(folder, "many.toml"), `schema = 1
[study]
name = "many"
[factors.lr]
levels = ${list}
[factors.batch]
levels = ${list}
[factors.depth]
levels = [1,2,3,4,5,6,7,8,9,10]
[design]
type = "full"
replications = 10
[metrics.loss]
objective = "minimize"
`);
  const made = start("import", "many.csv", "--study", "many.toml");
  check("many: the trials are taken in", await made.ended === 0, made.output);
}

let server;
try {
  await writeFile(join(folder, "finished.toml"), study("finished", "", trial.replace("PAUSE", "0.01"), 2));
  await writeFile(join(folder, "running.toml"), study("running", "", trial.replace("PAUSE", "0.12"), 20));
  const first = start("run", "finished.toml", "--slots", "2");
  check("a study runs", await first.ended === 0, first.output);
  await writeFile(join(folder, "named.toml"), study("named", "", trial.replace("PAUSE", "0.01"), 2)
    .replace("factors.lr", 'factors."learning_rate_of_the_second_stage_\u00fc"')
    .replace("{lr}", "{learning_rate_of_the_second_stage_\u00fc}")
    .replace("for s in", ": '{\u6700\u9069\u5316}'\nfor s in")
    .replace("[design]", `[factors."\u6700\u9069\u5316"]
levels = ["plain", "<b>adam</b> with a name that is long, no 1", "<b>adam</b> with a name that is long, no 2"]
[design]`));
  const long = start("run", "named.toml", "--slots", "2");
  check("a study of long names runs", await long.ended === 0, long.output);
  // Two objectives, for a front, and a model, for promised gains.
  await writeFile(join(folder, "searched.toml"), study("searched", '[metrics.size]\nfrom = "jsonl"\nobjective = "minimize"\n',
    trial.replace('\\"step\\"', '\\"size\\": {batch}, \\"step\\"').replace("PAUSE", "0.01"), 1)
    .replace(/\[design\][^[]*/, '[search]\nmethod = "bayesian"\nobjectives = ["loss", "size"]\nbudget = { trials = 8 }\n')
    + '[analysis]\nresponse = "loss"\n');
  const searched = start("search", "searched.toml", "--slots", "2");
  check("a search runs", await searched.ended === 0, searched.output);
  await makeMany();
  start("run", "running.toml");
  server = await serve("127.0.0.1:0");
  const { address } = server;
  await until("the running study", async () => (await fetch(`${address}/api/v1/studies/running`)).ok);
  server = await live(address, server);
  await growing(address);
  await many(address);
  await longNames(address);
  await everyPage(address);
  await acting();
} catch (error) {
  check("nothing went wrong", false, String(error.stack ?? error));
} finally {
  await browser.close();
  await Promise.all([...children].map((child) => { child.kill("SIGTERM"); return child.ended; }));
  await rm(folder, { recursive: true, force: true });
}
console.log(`live pages: ${counts.passed} checks passed, ${counts.failed} failed`);
process.exit(counts.failed ? 1 : 0);
