import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../cli/cli.js';
import { type GuardLab, guardLab, preToolUse } from '../../support/guard-lab.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const client = join(root, 'extensions/guard/dist/client/client.js');

interface ClientEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The arguments that other users of the machine see. */
  readonly line: string;
}

/** Runs the client as an agent does. */
function run(args: readonly string[], input: string): Promise<ClientEnd> {
  return new Promise((settle, reject) => {
    const child = spawn(process.execPath, [client, ...args], { env: {} });
    const said = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        said[name] += text;
      });
    child.stdin.on('error', () => undefined); // it may end before it has read everything
    child.on('error', reject);
    child.on('close', (code) => settle({ code, ...said, line: child.spawnargs.join(' ') }));
    child.stdin.end(input);
  });
}

const folderOf = (lab: GuardLab): string => join(lab.folder, 'guard');

describe('the client of agents whose hooks are commands', () => {
  it('prints what the guard answers, and names no token', async () => {
    await using lab = await guardLab();
    const args = ['claude', 'PreToolUse', folderOf(lab)];
    const { code, stdout, stderr, line } = await run(args, preToolUse('rm -rf /'));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      hookSpecificOutput: { permissionDecisionReason: 'Nothing is removed here.' },
    });
    expect(line).not.toContain(lab.door.token);
    expect(await run(args, preToolUse('ls'))).toMatchObject({ code: 0, stdout: '{}' });
  });

  it.each(['closed', 'open'])(
    'refuses more than 10 MB in the words of the agent: %s',
    async (away) => {
      await using lab = await guardLab();
      const { code, stdout } = await run(
        ['claude', 'PreToolUse', folderOf(lab), away],
        preToolUse('x'.repeat(11 * 1_048_576)),
      );
      expect(code).toBe(0);
      expect(stdout).toContain('"permissionDecision":"deny"');
    },
  );

  it('refuses in the words of the agent if the guard is away, or lets pass if the settings say so', async () => {
    const lab = await guardLab();
    await lab.test.host.stop({ timeoutMs: 0 });
    const args = ['claude', 'PreToolUse', folderOf(lab)];
    const closed = await run(args, preToolUse('ls'));
    expect(closed.code).toBe(0);
    expect(closed.stdout).toContain('the guard is away, and nothing is allowed without it');
    expect(closed.stderr).toContain('run `sluice guard run`');
    const open = await run([...args, 'open'], preToolUse('ls'));
    expect(open).toMatchObject({ code: 0, stdout: '' });
    expect(open.stderr).toContain('the call passes, as the settings say');
    await lab[Symbol.asyncDispose]();
    const never = await run(['claude', 'PreToolUse', '/nowhere'], preToolUse('ls'));
    expect(never).toMatchObject({ code: 2, stdout: '' });
  });

  it('refuses in time if the guard takes the call, and says nothing', async () => {
    const late = { exitCode: 0, body: { late: true }, timeoutMs: 100 };
    using folder = temporaryFolder({
      token: 't',
      'away.json': JSON.stringify({ 'claude/Stop': late }),
    });
    const socketPath = join(folder.path, 'door.sock');
    folder.write('door.json', JSON.stringify({ port: 1, socketPath }));
    const server = createServer(() => undefined).listen(socketPath);
    const end = await run(['claude', 'Stop', folder.path], '{}');
    server.closeAllConnections();
    server.close();
    expect(end).toMatchObject({ code: 0, stdout: '{"late":true}' });
    expect(end.stderr).toContain('it has not answered in time');
  });

  it('loads no module but those of Node, and few of them', () => {
    const imports = readFileSync(client, 'utf8').matchAll(/(?:from|import) ?['"]([^'"]+)['"]/g);
    expect([...imports].map(([, name]) => name)).toEqual(['node:events', 'node:fs', 'node:http']);
    const loaded = (code: string): number =>
      Number(execFileSync(process.execPath, ['--input-type=module', '-e', code]).toString());
    const count = 'console.log(process.moduleLoadList.length)';
    const bare = loaded(count);
    expect(loaded(`import 'node:http'; ${count}`) - bare).toBeLessThan(80);
  });
});
