import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const programs = [
  ...(process.env['CHROMIUM'] === undefined ? [] : [process.env['CHROMIUM']]),
  ...['/usr/bin/chromium', '/usr/bin/chromium-headless-shell'],
];

/** Starts the browser of this machine. */
export function openBrowser(): Promise<Browser> {
  const executablePath = programs.find(existsSync);
  if (executablePath === undefined)
    throw new Error('there is no Chromium: apt-get install chromium-headless-shell');
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

/** A page that fails the test if its scripts throw, or anything of it was refused. */
export async function openPage(browser: Browser | BrowserContext, url: string): Promise<Page> {
  const page = await browser.newPage();
  await page.setViewportSize({ width: 1200, height: 800 });
  page.setDefaultTimeout(Number(process.env['WAIT_MS'] ?? 30_000));
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(new URL(url).origin)) problems.push(`asked ${request.url()}`);
  });
  await page.goto(url);
  return page;
}

/** The errors of all pages: a test that is done expects none. */
export const problems: string[] = [];

/** Finds words that stand in one line without a space between them, and signs with a space before them. */
const gluedTexts = `(() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  let last;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(node);
    const boxes = [...range.getClientRects()];
    if (node.data.trim() === '' || boxes.length === 0) {
      if (last && /^\\s+$/.test(node.data)) last.text += ' ';
      continue;
    }
    const [first] = boxes;
    if (last && Math.abs(last.box.top - first.top) < 6) {
      const gap = first.left - last.box.right;
      const isGlued = /[\\w).]$/.test(last.text) && /^[\\w(]/.test(node.data) && gap < 2;
      const isLoose = /^\\s*[.,;]/.test(node.data) && gap > 1;
      if (isGlued || isLoose) found.push(last.text.slice(-30) + '|' + node.data.slice(0, 30));
    }
    last = { text: node.data, box: boxes.at(-1) };
  }
  return found;
})()`;

/** Expects that axe finds nothing serious in what the page shows, and that no words of it are glued together. */
export async function expectAccessible(page: Page): Promise<void> {
  const found = await page.evaluate(
    `(() => { ${axe.source}; return axe.run(document); })()`, // evaluated: the page may load nothing
  );
  const { violations } = found as axe.AxeResults;
  const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  expect(grave.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
  expect(await page.evaluate(gluedTexts)).toEqual([]);
}

/** A real command in a folder of its own, with the demo extension in it. */
export class Command implements AsyncDisposable {
  readonly child: ChildProcess;
  #output = '';
  #heard: () => void = () => undefined;

  constructor(folder: string, args: readonly string[]) {
    this.child = spawn(process.execPath, [join(root, 'dist/cli/main.js'), ...args], {
      cwd: folder,
      env: { PATH: process.env['PATH'], HOME: folder },
      stdio: 'pipe',
    });
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
        this.#heard();
      });
  }

  /** Says a line, as the user of the console does. */
  say(line: string): void {
    this.child.stdin?.write(`${line}\n`);
  }

  /** Waits for a text in what it writes. */
  until(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.#heard = () => {
        if (this.#output.includes(text)) resolve();
      };
      this.#heard();
    });
  }

  /** The first group of what it has written. */
  said(pattern: RegExp): string {
    return pattern.exec(this.#output)?.[1] ?? '';
  }

  /** The address of the page. */
  async url(): Promise<string> {
    await this.until('#token=');
    await this.until('\n');
    return this.said(/inspector at (\S+)/);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('close', resolve));
    if (this.child.exitCode !== null) return;
    this.child.kill('SIGKILL');
    await ended;
  }
}

/** A folder with the demo extension, in which the packages of this project are installed. */
export function demoFolder(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'sluice-inspector-'));
  symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'));
  copyFileSync(fileURLToPath(new URL('demo.js', import.meta.url)), join(path, 'demo.mjs'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Starts `sluice run --inspect` there. */
export function runHost(folder: string, ...more: readonly string[]): Command {
  return new Command(folder, [
    ...['run', '--no-config', '--quiet', '--journal', 'sluice.db', '--extension', './demo.mjs'],
    ...['--agent', 'parrot', '--channel', 'post', '--inspect', ...more],
  ]);
}
