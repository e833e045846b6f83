import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { policiesOf, type Rule } from '../src/index.js';
import { commandPattern } from '../src/shell/runs.js';
import { dangerous, elsewhere, innocent } from './spellings.js';

/** A rule that denies a call of a tool on this condition. */
async function ruleOf(condition: string): Promise<Rule> {
  const text = `
- id: one
  family: agent.tool.calling
  deny when: ${JSON.stringify(condition)}
  expect: [{ payload: { toolName: shell, params: { command: rm -rf / } }, is: denied }]`;
  const [rule] = (await policiesOf([{ file: 'p.yaml', text }])).rules;
  if (rule === undefined) throw new Error('there is no rule');
  return rule;
}

const tryOn = (rule: Rule, command: string) =>
  rule.tryOn({ toolName: 'shell', toolCallId: 'c', params: { command } }, {});
const noDeletion = await ruleOf("runs(params.command, 'rm -rf *')");
const verdictOn = async (command: string) => (await tryOn(noDeletion, command)).verdict;

describe('a rule about a command', () => {
  it.each([...dangerous.map((spelling) => spelling('/')), ...elsewhere])(
    'lets no deletion pass that is spelled %j (judgement §5.7)',
    async (command) => {
      expect(await verdictOn(command)).not.toBe('allowed');
    },
  );

  it('reads four in ten of the spellings for certain, of which a search for the text misses many', async () => {
    const search = await ruleOf("params.command.contains('rm -rf')");
    const commands = dangerous.map((spelling) => spelling('/'));
    const read = await Promise.all(commands.map(verdictOn));
    const found = await Promise.all(commands.map((one) => tryOn(search, one)));
    expect(read.filter((one) => one === 'denied').length).toBeGreaterThan(commands.length * 0.4);
    expect(found.filter(({ verdict }) => verdict === 'allowed').length).toBeGreaterThan(50);
  });

  it.each(innocent)('lets pass %j (judgement §5.7)', async (command) => {
    expect(await tryOn(noDeletion, command)).toEqual({ verdict: 'allowed' });
  });

  it.each([
    ['its length', `echo ${'a'.repeat(10_000_000)}`],
    ['one word', `rm ${'x'.repeat(200_000)}`],
    ['its commands', 'a;'.repeat(50_000)],
    ['substitutions', '$('.repeat(40_000)],
    ['closed substitutions', `${'$('.repeat(300)}${'a '.repeat(20_000)}${')'.repeat(300)}`],
    ['documents', `cat ${'<<E '.repeat(20_000)}\n`],
    ['shells in shells', `${'sh -c '.repeat(30_000)}x`],
    ['functions', 'a() '.repeat(20_000)],
    ['programs that run others', `${'ssh '.repeat(5_000)}x`],
    ['texts in texts', [...Array(12)].reduce<string>((text) => `sh -c ${quoted(text)}`, 'ls')],
  ])(
    'fails in bounded time for a command beyond the bounds, by %s (judgement §5.5)',
    async (_, command) => {
      expect(await tryOn(noDeletion, command)).toMatchObject({ verdict: 'failed' });
    },
  );

  it('counts a text once more for each brace that opens in it, as the parser reads it (judgement §5.5)', async () => {
    const nested = `echo ${'${x:-'.repeat(300)}${'a '.repeat(20_000)}${'}'.repeat(300)}`;
    expect((await tryOn(noDeletion, nested)).why).toMatch(/it is too long or too deep/);
    expect(await verdictOn(nested.replaceAll(/[${}]|x:-/g, ''))).toBe('allowed');
  });

  it('says why it cannot read a command', async () => {
    expect((await tryOn(noDeletion, '$x -rf /')).why).toMatch(
      /runs\(\) cannot read the command for certain: the name of a program is not known/,
    );
  });
});

describe('the pattern of runs()', () => {
  it.each([
    ['git push --force *', 'git push -f origin', true],
    ['git push --force *', 'git push origin main --force', true],
    ['git push --force *', 'git push --force-with-lease', false],
    ['git push --force *', 'git pull --force', false],
    ['git push --force *', 'git -C sub push -f', true],
    ['git push --force *', 'git push "$remote"', undefined],
    ['git push --force *', 'git push origin "./$branch"', false],
    ['find -delete', 'find . -name x -delete', true],
    ['find -delete', 'find . -name x -depth -ls', false],
    ['curl --data=secret *', 'curl --data=secret x', true],
    ['curl --data=secret *', 'curl --data=other x', false],
    ['rm /etc/*', 'rm -f /etc/passwd', true],
    ['rm /etc/*', 'rm -f etc/passwd', false],
    ['rm /etc/*', 'rm -f "$x"', undefined],
    ['rm', 'rm', true],
    ['mkfs*', 'sudo mkfs.ext4 /dev/sda', true],
    ['kubectl delete ns *', 'kubectl delete ns prod', true],
    ['kubectl delete ns *', 'kubectl get ns', false],
    ['git *', 'git status', true],
    ['dd of=/dev/*', 'dd if=x of=/dev/sda', true],
    ['dd of=/dev/*', 'dd if=/dev/sda of=x', false],
    ['chmod -R 777 /', 'sudo chmod 777 / --recursive', true],
    ['chmod -R 777 /', 'chmod -R 755 /', false],
    ['> /etc/*', 'echo x | cat >> /etc/passwd', true],
    ['> /etc/*', 'sh -c "echo x 2> /etc/passwd"', true],
    ['> /etc/*', 'cat /etc/passwd > out', false],
    ['> /etc/*', 'ls > "$log"', undefined],
  ] as const)('%j is %j: %j', (pattern, command, is) => {
    const { isFoundIn } = commandPattern(pattern);
    if (is === undefined) expect(() => isFoundIn(command)).toThrow('known only when it runs');
    else expect(isFoundIn(command)).toBe(is);
  });

  it.each([
    ["runs(params.command, '')", 'must begin with the name of a program'],
    ["runs(params.command, '/bin/rm -rf')", 'must begin with the name of a program'],
    ["runs(params.command, '$(rm)')", 'must begin with the name of a program'],
    ['runs(params.command, params.path)', 'must be written out as a text'],
    ["['a'].exists(one, runs(one, 'rm'))", 'runs() stands within a macro'],
    [Array(21).fill("runs(params.command, 'rm')").join(' || '), 'it has more than 20 runs()'],
  ])('is refused when the file is read: %.40s', async (condition, reason) => {
    await expect(ruleOf(condition)).rejects.toThrow(reason);
  });
});

/** A word of shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

describe('wrappers around a command', () => {
  const wrappers: readonly ((text: string) => string)[] = [
    (text) => `sh -c ${quoted(text)}`,
    (text) => `bash -lc ${quoted(text)}`,
    (text) => `eval ${quoted(text)}`,
    (text) => `trap ${quoted(text)} EXIT`,
    (text) => `(${text}\n)`,
    (text) => `{ ${text}\n}`,
    (text) => `ls && { ${text}\n} | cat`,
    (text) => `if true; then\n${text}\nfi`,
    (text) => `f() {\n${text}\n}; f`,
    (text) => `echo "$(${text}\n)"`,
    (text) => `cat <(${text}\n)`,
    (text) => `bash <<'END_${text.length}'\n${text}\nEND_${text.length}`,
    (text) => `bash <<< ${quoted(text)}`,
    (text) => `# a comment\n${text} # another`,
    (text) => `env A=1 nohup timeout 5 sh -c ${quoted(text)}`,
    (text) => `sudo -u me bash -c ${quoted(text)}`,
    (text) => `find . -exec sh -c ${quoted(text)} \\;`,
    (text) => `ls | xargs -n1 sh -c ${quoted(text)}`,
    (text) => `echo ${quoted(text)} | sh`,
    (text) => `docker exec box sh -c ${quoted(text)}`,
  ];
  const nested = (cores: readonly string[]) =>
    fc
      .tuple(fc.constantFrom(...cores), fc.array(fc.constantFrom(...wrappers), { maxLength: 5 }))
      .map(([core, around]) => around.reduce((text, wrap) => wrap(text), core));

  it('hide no deletion (judgement §5.7)', async () => {
    const cores = dangerous.map((spelling) => spelling('/'));
    await fc.assert(
      fc.asyncProperty(nested(cores), async (command) => {
        expect(await verdictOn(command)).not.toBe('allowed');
      }),
      { numRuns: 500 },
    );
  });

  it('make no deletion of another command, and most of them are read', async () => {
    const verdicts: string[] = [];
    await fc.assert(
      fc.asyncProperty(nested(innocent), async (command) => {
        verdicts.push(await verdictOn(command));
        expect(verdicts.at(-1)).not.toBe('denied');
      }),
      { numRuns: 500 },
    );
    const unread = verdicts.filter((one) => one === 'failed').length;
    expect(unread).toBeLessThan(verdicts.length / 4);
  });
});

describe('the spellings', () => {
  const home = mkdtempSync(join(tmpdir(), 'spellings-'));
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  it.each(dangerous.map((spelling, index) => [spelling('victim'), index] as const))(
    'run the program: %j',
    (command, index) => {
      const folder = join(home, String(index));
      mkdirSync(join(folder, 'bin'), { recursive: true });
      mkdirSync(join(folder, 'victim'));
      const fake = join(folder, 'bin/rm');
      writeFileSync(fake, `#!/bin/sh\necho "$@" >> ${folder}/mark\n`);
      chmodSync(fake, 0o755);
      const { stderr } = spawnSync('bash', ['-c', command], {
        cwd: folder,
        env: { PATH: `${folder}/bin:${process.env['PATH']}`, HOME: folder },
        stdio: ['ignore', 'ignore', 'pipe'],
        encoding: 'utf8',
        timeout: 20_000,
      });
      // a shell of a login finds the true program, which deletes the folder in the folder of this test
      const hasRun = existsSync(join(folder, 'mark')) || !existsSync(join(folder, 'victim'));
      expect(hasRun, stderr).toBe(true);
    },
  );
});
