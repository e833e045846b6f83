import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readProjectFile, root } from '../support/source-tree.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { built, freePorts, type Image, type Ran, Service, said, sh } from './operators-host.js';

const page = readProjectFile('docs/deploying.md');

/** The block of the page that has a name. */
function block(name: string): string {
  const found = [...page.matchAll(/^```\w+ (\S+)\n([\s\S]*?)^```$/gm)].find(
    ([, one]) => one === name,
  );
  if (found?.[2] === undefined) throw new Error(`the page has no block "${name}"`);
  return found[2];
}

describe('the day of an operator, as "Deploy one host" has it (child processes)', () => {
  const folder = temporaryFolder();
  const backups = join(folder.path, 'backups');
  let image: Image;
  let service: Service | undefined;
  let ports: readonly number[] = [];
  afterAll(async () => {
    await service?.stop('SIGKILL');
    folder[Symbol.dispose]();
  }, 300_000);

  const journal = (): string => join(image.workdir, 'data/sluice.db');
  const start = async (...more: readonly string[]): Promise<void> => {
    service = new Service([...image.command, ...more], image.workdir);
    await service.until('/readyz');
    await expect.poll(async () => (await run('node_modules/.bin/sluice status')).code).toBe(0);
  };
  const stop = async (): Promise<void> => expect(await service?.stop()).toBe(0);

  /** Runs a line of the page in the folder of the host. The service is of these tests, and not of systemd. */
  async function run(line: string): Promise<Ran> {
    const [, verb] = /^sudo systemctl (stop|start|restart) sluice$/.exec(line) ?? [];
    if (verb === undefined) return sh(inFolder(line), image.workdir);
    if (verb !== 'start') await stop();
    if (verb !== 'stop') await start();
    return { code: 0, stdout: '', stderr: '' };
  }

  function inFolder(line: string): string {
    const packages = tarballs().join(' ');
    return line
      .replace(/^npm install sluice.*$/, `npm install --no-audit --no-fund ${packages}`)
      .replaceAll('/var/backups/sluice', backups)
      .replaceAll('/var/lib/sluice-backups', backups);
  }

  /** Runs each line of a block. */
  async function runAll(name: string, from = '', to = ''): Promise<Ran[]> {
    const all: Ran[] = [];
    for (const line of block(name).trim().split('\n')) {
      const ran = await run(line.replace(from, to));
      expect({ line, ...ran }).toMatchObject({ code: 0 });
      all.push(ran);
    }
    return all;
  }

  function tarballs(): string[] {
    const packed = process.env['NEWCOMER_PACKED'] ?? process.env['OPERATOR_PACKED'] ?? ownPacked();
    return ['sluice', 'sluice-http', 'sluice-otel'].map((name) => join(packed, `${name}.tgz`));
  }

  function ownPacked(): string {
    const packed = join(folder.path, 'packed');
    if (statSync(packed, { throwIfNoEntry: false }) === undefined)
      execFileSync(process.execPath, ['.ci/pack-all.mjs', packed], { cwd: root });
    return packed;
  }

  it('install: the steps of the Dockerfile make a host in an empty folder', async () => {
    const context = join(folder.path, 'context');
    mkdirSync(context);
    mkdirSync(backups, { mode: 0o700 });
    ports = await freePorts(2);
    const config = block('sluice.config.json')
      .replace('8642', String(ports[0]))
      .replace('8080', String(ports[1]));
    writeFileSync(join(context, 'sluice.config.json'), config);
    const install = `npm install --package-lock-only --no-audit ${tarballs().join(' ')}`;
    expect(await sh(install, context)).toMatchObject({ code: 0 });
    image = await built(block('Dockerfile'), context, join(folder.path, 'home'));
    expect(readdirSync(image.workdir).sort()).toEqual(
      ['data', 'node_modules', 'package-lock.json', 'package.json', 'sluice.config.json'].sort(),
    );
    const doctor = await run('npx sluice doctor --json');
    expect(doctor).toMatchObject({ code: 0, stdout: expect.not.stringContaining('"error"') });
  });

  it('start: it answers behind a proxy, is healthy, and its log has no way of a message', async () => {
    await start();
    expect(await said(ports[0] ?? 0, 'good morning')).toBe('good morning');
    const { code, stdout } = await run(image.healthCheck.join(' '));
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^ready, since /)]);
    const log = service?.stderr.trim().split('\n') ?? [];
    expect(log.filter((line) => !/^(\{.*\}|sluice: .*)$/.test(line))).toEqual([]);
    expect(service?.stderr).not.toContain('ingress.received');
  });

  it('watch: the alerts are rules, and each figure that they name is at /metrics', async () => {
    const { rule_files: named, scrape_configs: scraped } = parse(block('prometheus.yaml'));
    expect([named, scraped[0].job_name]).toEqual([['alerts.yaml'], 'sluice']);
    const rules = parse(block('alerts.yaml')).groups.flatMap(
      (group: { rules: readonly object[] }) => group.rules,
    );
    expect(rules).toHaveLength(3);
    const figures = await (await fetch(`http://127.0.0.1:${ports[1]}/metrics`)).text();
    for (const rule of rules) {
      expect(rule).toEqual({
        ...{ alert: expect.stringMatching(/^\w+$/), expr: expect.any(String) },
        ...{ for: expect.stringMatching(/^\d+m$/), annotations: { summary: expect.any(String) } },
      });
      const names = rule.expr.replace(/\{[^}]*\}/g, '').match(/\b(up|sluice_\w+)\b/g) ?? [];
      expect(names).not.toEqual([]);
      for (const name of names)
        if (name !== 'up') expect(figures).toMatch(new RegExp(`^${name}[ {]`, 'm'));
    }
  });

  it('back up: the nightly unit copies the journal while messages come', async () => {
    const [, script = ''] = /^ExecStart=(.+)$/m.exec(block('sluice-backup.service')) ?? [];
    const nightly = run(script.replaceAll('%%', '%'));
    const answers = Array.from({ length: 5 }, (_, at) => said(ports[0] ?? 0, `at night ${at}`));
    expect(await nightly).toMatchObject({ code: 0, stdout: expect.stringContaining('is well') });
    expect(await Promise.all(answers)).toHaveLength(5);
    const [copy = ''] = readdirSync(backups);
    expect(copy).toMatch(/^\d{4}-\d\d-\d\d\.db$/);
    expect((statSync(join(backups, copy)).mode & 0o777).toString(8)).toBe('600');
    const again = await run(block('backup').trim());
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('file-exists')]);
  });

  it('break, find, repair: after kill -9 and damage on the disk, each command says what to do next', async () => {
    expect(await said(ports[0] ?? 0, 'breakfast')).toBe('breakfast');
    await service?.stop('SIGKILL');
    const away = await run('npx sluice status');
    expect([away.code, away.stdout]).toEqual([1, expect.stringMatching(/^away: .*ECONNREFUSED/)]);
    await start();
    await stop(); // all of the log is in the file now
    const bytes = readFileSync(journal());
    const at = bytes.indexOf('breakfast');
    expect(at).toBeGreaterThan(0);
    bytes.write('breakfist', at);
    writeFileSync(journal(), bytes);
    const refused = new Service(image.command, image.workdir);
    expect(await refused.ended).not.toBe(0);
    expect(refused.stderr).toMatch(/database-damaged: .*run `sluice journal repair`/);
    const copied = await run(`npx sluice journal backup ${backups}/damaged.db`);
    expect([copied.code, copied.stderr]).toEqual([1, expect.stringContaining('database-damaged')]);
    const repaired = await run('npx sluice journal repair');
    expect(repaired).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/kept, [1-9]\d* moved/),
    });
    await start('--way');
    expect(await said(ports[0] ?? 0, 'good evening')).toBe('good evening');
    await service?.until('answered, '); // the way, which was asked for
    await stop();
  });

  it('rotate: a log that is copied and cut goes on at its beginning', async () => {
    const config = join(image.workdir, 'sluice.config.json');
    const text = readFileSync(config, 'utf8');
    const file = join(image.workdir, 'data/sluice.log');
    expect(block('logrotate')).toContain('/srv/sluice/data/sluice.log {');
    writeFileSync(
      config,
      text.replace('"format": "json"', '"file": "./data/sluice.log", "level": "debug"'),
    );
    await start();
    copyFileSync(file, `${file}.1`);
    truncateSync(file);
    expect(await said(ports[0] ?? 0, 'good night')).toBe('good night');
    await stop();
    writeFileSync(config, text);
    for (const line of readFileSync(file, 'utf8').trim().split('\n'))
      expect(JSON.parse(line)).toMatchObject({ msg: expect.any(String) });
  });

  it('upgrade, and the way back: an older version refuses a newer form, and the copy from before is put back', async () => {
    await start();
    const ran = await runAll('upgrade');
    expect(ran.at(-1)?.stdout).toMatch(/^ready, since /);
    expect(await said(ports[0] ?? 0, 'after the upgrade')).toBe('after the upgrade');
    await stop();
    const newer = `new (require('libsql'))('data/sluice.db').exec('PRAGMA user_version = 5')`;
    expect(await run(`node -e "${newer}"`)).toMatchObject({ code: 0 });
    const refused = new Service(image.command, image.workdir);
    expect(await refused.ended).not.toBe(0);
    const [, sentence = ''] = /`not-a-journal: \.\.\. ([^`]+)`/.exec(page) ?? [];
    expect(refused.stderr).toContain(sentence.replaceAll('\n', ' '));
    const lines = block('restore').trim().split('\n').slice(1); // it is stopped
    for (const line of lines)
      expect(await run(line.replace('2026-03-15', 'before-upgrade'))).toMatchObject({ code: 0 });
    const { stdout } = await run('npx sluice journal list --sends');
    expect(stdout.match(/reply sent/g)?.length).toBeGreaterThan(5); // what was said before
    const status = await run('npx sluice status');
    expect([status.code, status.stdout]).toEqual([0, expect.stringMatching(/^ready, since /)]);
    expect(readdirSync(join(image.workdir, 'data'))).toContainEqual(
      expect.stringMatching(/^sluice\.db\.before-\d{8}T\d{6}Z$/),
    );
    await stop();
  });

  it.skipIf(spawnSync('systemd-analyze', ['--version']).status !== 0)(
    'supervise: systemd finds no fault in the units of the page',
    () => {
      const names = ['sluice.service', 'sluice-backup.service', 'sluice-backup.timer'];
      const units = names.map((name) => {
        const file = join(folder.path, name);
        writeFileSync(file, block(name).replaceAll('/srv/sluice', image.workdir));
        return file;
      });
      const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', ...units], {
        encoding: 'utf8',
      });
      expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
    },
  );
});
