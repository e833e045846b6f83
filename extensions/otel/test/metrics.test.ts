import { fakeChannel } from 'sluice/testing';
import { describe, expect, it } from 'vitest';
import { instruments, rows } from '../src/instruments.js';
import { conventionAttributes } from './conventions.js';
import { guard, type OtelLab, otelLab, toolAgent } from './otel-lab.js';
import { attributesOf } from './otlp-receiver.js';

const agents = [{ id: 'main', provider: toolAgent() }];

async function pageOf(lab: OtelLab): Promise<string> {
  const answer = await lab.test.host.routes.answer(new Request('http://localhost/metrics'));
  expect(answer.headers.get('content-type')).toMatch(
    /^application\/openmetrics-text; version=1\.0\.0/,
  );
  return answer.text();
}

/** The samples of a page in OpenMetrics. A line that the format does not have is an error. */
function samplesOf(
  page: string,
): { name: string; labels: string; value: number; exemplar: string }[] {
  const lines = page.split('\n');
  expect(lines.splice(-2)).toEqual(['# EOF', '']);
  const types = new Map<string, string>();
  return lines.flatMap((line) => {
    const type = /^# TYPE ([a-z_:][\w:]*) (counter|gauge|histogram)$/.exec(line);
    if (type?.[1] !== undefined) types.set(type[1], type[2] ?? '');
    if (type !== null || /^# HELP \S+ .+$/.test(line)) return [];
    const sample = /^([a-z_:][\w:]*)(\{[^}]*\})? (\S+)( # \{[^}]*\} \S+( \S+)?)?$/.exec(line);
    const [, name = '', labels = '', value = '', exemplar = ''] = sample ?? [];
    const family = name.replace(/_(total|bucket|sum|count)$/, '');
    const wanted = name.endsWith('_total') ? 'counter' : name === family ? 'gauge' : 'histogram';
    if (types.get(family) !== wanted) throw new Error(`no line of OpenMetrics: ${line}`);
    return [{ name, labels, value: Number(value), exemplar }];
  });
}

describe('/metrics', () => {
  it('is OpenMetrics with the figures of what happened, and exemplars of traces (sight §6.3)', async () => {
    const channel = fakeChannel();
    await using lab = await otelLab({}, { agents, channel, extensions: [guard] });
    const { correlationId } = await lab.test.say('tool');
    await lab.test.say('hush');
    await lab.test.say('fail');
    const samples = samplesOf(await pageOf(lab));
    const value = (name: string, labels: string) =>
      samples.find((one) => one.name === name && one.labels === labels)?.value;
    expect(value('sluice_messages_total', '{channel="fake",outcome="answered"}')).toBe(1);
    expect(value('sluice_messages_total', '{channel="fake",outcome="cancelled"}')).toBe(1);
    expect(value('sluice_messages_total', '{channel="fake",outcome="failed"}')).toBe(1);
    expect(
      value(
        'sluice_cancels_total',
        '{family="egress.preparing",code="quiet-hours",extension="guard"}',
      ),
    ).toBe(1);
    expect(value('sluice_sends_total', '{channel="fake",state="sent"}')).toBe(2);
    expect(value('sluice_dead_letters', '')).toBe(1);
    expect(value('sluice_quarantined', '')).toBe(0);
    expect(
      value(
        'gen_ai_execute_tool_duration_seconds_count',
        '{gen_ai_tool_name="weather",gen_ai_agent_name="main"}',
      ),
    ).toBe(1);
    const [trace] = (await lab.spans()).filter(({ attributes }) =>
      Object.values(attributesOf(attributes)).includes(correlationId),
    );
    expect(samples.map(({ exemplar }) => exemplar).join()).toContain(
      `trace_id="${trace?.traceId}"`,
    );
  });

  it('has as many series for many people and sessions as for few: no label holds an id (sight §6.2)', async () => {
    await using lab = await otelLab({}, { agents, extensions: [guard] });
    const words = ['hello', 'tool', 'hush', 'tool forbidden', '/help', 'fail', 'tool broken'];
    const talk = async (from: number, to: number): Promise<number> => {
      for (let at = from; at < to; at++)
        await lab.test.say({
          text: words[at % words.length] ?? '',
          from: `user-${at}`,
          conversation: `chat-${at}`,
        });
      return samplesOf(await pageOf(lab)).length;
    };
    const few = await talk(0, 14);
    expect(await talk(14, 84)).toBe(few);
  });

  it('sums names up that a model invents (sight §6.2)', async () => {
    let calls = 0;
    const inventive = {
      ...toolAgent(),
      async *run({ gate }: Parameters<ReturnType<typeof toolAgent>['run']>[0]) {
        yield { type: 'agent_start' as const };
        const call = { toolCallId: `c-${++calls}`, toolName: `tool-${calls}`, args: {} };
        yield { type: 'tool_execution_start' as const, ...call };
        await gate(call);
        yield { type: 'tool_execution_end' as const, ...call, result: 'ok', isError: false };
        yield { type: 'agent_end' as const, messages: [] };
      },
    };
    await using lab = await otelLab({}, { agents: [{ id: 'main', provider: inventive }] });
    for (let at = 0; at < 110; at++) await lab.test.say(`hello ${at}`);
    const named = samplesOf(await pageOf(lab)).filter(
      ({ name }) => name === 'gen_ai_execute_tool_duration_seconds_count',
    );
    expect(named).toHaveLength(101);
    expect(named.find(({ labels }) => labels.includes('"other"'))?.value).toBe(10);
  });
});

describe('the instruments through OpenTelemetry', () => {
  it('are the same, with the bounds that the conventions say (sight §6.1)', async () => {
    await using lab = await otelLab({}, { agents, extensions: [guard] });
    await lab.test.say('tool');
    await lab.test.say('hush');
    await lab.flushMetrics();
    const { metrics } = lab.received;
    const known = new Set(metrics.map(({ name }) => name));
    const silent = rows.map(([name]) => name).filter((name) => !known.has(name));
    expect(silent).toEqual(['sluice.handler.failures', 'sluice.records.dropped']); // nothing failed here
    const agent = metrics.find(({ name }) => name === 'gen_ai.invoke_agent.duration');
    expect(agent?.histogram?.dataPoints[0]?.explicitBounds).toEqual(
      instruments['gen_ai.invoke_agent.duration'].buckets,
    );
    const keys = metrics.flatMap(({ histogram, sum, gauge }) =>
      (histogram ?? sum ?? gauge)?.dataPoints.flatMap(({ attributes }) =>
        attributes.map(({ key }) => key),
      ),
    );
    const odd = keys.filter(
      (key) => !conventionAttributes.has(`${key}`) && !key?.startsWith('sluice.'),
    );
    expect(odd).toEqual([]);
  });
});
