import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { recordings } from '../../support/recordings.js';
import { fixture, jsonLines, runCli } from '../cli.js';

interface DispatchLine {
  readonly event: {
    readonly family: string;
    readonly payload: { readonly assistantTexts?: string[] };
  };
}

describe('sluice replay', () => {
  it('prints the dispatches of a recording', async () => {
    const { code, stdout, stderr } = await runCli(['replay', fixture('recording.jsonl')]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const families = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(' ')[0]);
    expect(families).toEqual([
      'command.received',
      'agent.starting',
      'agent.answer.resolving',
      'agent.model.resolving',
      'agent.prompt.building',
      'agent.llm.calling',
      'agent.llm.input',
      'transcript.message.writing',
      'agent.tool.calling',
      'transcript.message.writing',
      'agent.tool.called',
      'transcript.tool-result.persisting',
      'transcript.message.writing',
      'agent.output.delta',
      'transcript.message.writing',
      'agent.completed',
      'agent.llm.output',
      'command.completed',
    ]);
  });

  it('P4: has a recording at hand, by the name "example"', async () => {
    const { code, stdout, stderr } = await runCli(['replay', 'example']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('agent.tool.calling');
    const said = await runCli(
      ['run', '--quiet', '--no-config', '--agent', 'replay:example'],
      'hi\n',
    );
    expect(said).toMatchObject({ code: 0, stderr: '' });
    expect(said.stdout).toMatch(/\S/);
  });

  it('prints a line of JSON per dispatch with --json', async () => {
    const { code, stdout } = await runCli(['replay', '--json', fixture('recording.jsonl')]);
    expect(code).toBe(0);
    expect(answers(stdout)).toEqual([['It says hello.']]);
  });

  it('names a malformed line with its file and number, and goes on', async () => {
    const files = [fixture('malformed.jsonl'), fixture('recording.jsonl')];
    const { code, stdout, stderr } = await runCli(['replay', '--json', ...files]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^sluice: bad-line: \S*malformed\.jsonl, line 3: .*\n$/);
    expect(answers(stdout)).toEqual([['It says hello.'], ['It says hello.']]);
  });

  it('reads stdin as -', async () => {
    const input = readFileSync(fixture('recording.jsonl'), 'utf8');
    const { code, stdout } = await runCli(['replay', '--json', '-'], input);
    expect(code).toBe(0);
    expect(answers(stdout)).toEqual([['It says hello.']]);
  });

  it('takes a file without any message as no run', async () => {
    const { code, stdout } = await runCli(['replay', '--json', '-'], '');
    expect(code).toBe(0);
    expect(families(stdout)).toEqual(['command.received', 'command.completed']);
  });

  it('takes every recording', async () => {
    const paths = recordings().map(({ path }) => path);
    const { code, stdout, stderr } = await runCli(['replay', '--json', ...paths]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const ends = families(stdout).filter((family) => family === 'agent.completed');
    expect(ends.length).toBeGreaterThanOrEqual(paths.length);
  });
});

function families(stdout: string): string[] {
  return jsonLines<DispatchLine>(stdout).map(({ event }) => event.family);
}

function answers(stdout: string): (readonly string[] | undefined)[] {
  return jsonLines<DispatchLine>(stdout)
    .filter(({ event }) => event.family === 'agent.llm.output')
    .map(({ event }) => event.payload.assistantTexts);
}
