import { context, propagation, trace } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { cancel, defineExtension } from 'sluice';
import type { AgentProvider } from 'sluice/stream';
import { startTestHost, type TestHost, type TestHostOptions } from 'sluice/testing';
import { eventIds, type OtelConfig, otel } from '../src/index.js';
import { type OtlpReceiver, otlpReceiver, type ReceivedSpan } from './otlp-receiver.js';

/** A host whose traces and metrics go to a receiver by the real exporters. */
export interface OtelLab extends AsyncDisposable {
  readonly test: TestHost;
  readonly received: OtlpReceiver;
  /** Sends what there is, and returns all spans so far. */
  spans(): Promise<readonly ReceivedSpan[]>;
  /** Sends the metrics as they are now. */
  flushMetrics(): Promise<void>;
}

export const grants = { otel: ['tap', 'provide:route'] };

/** The providers of a process, registered until they are disposed. */
export async function providers() {
  const received = await otlpReceiver();
  const exporter = new OTLPTraceExporter({ url: `${received.url}/v1/traces` });
  const tracerProvider = new NodeTracerProvider({
    idGenerator: eventIds,
    spanProcessors: [
      new BatchSpanProcessor(exporter, { maxQueueSize: 200_000, maxExportBatchSize: 2_000 }),
    ],
  });
  tracerProvider.register();
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter({ url: `${received.url}/v1/metrics` }),
    exportIntervalMillis: 600_000,
  });
  const meterProvider = new MeterProvider({ readers: [reader] });
  return {
    ...{ received, tracerProvider, meterProvider, reader },
    [Symbol.asyncDispose]: async () => {
      await tracerProvider.shutdown();
      await meterProvider.shutdown();
      trace.disable();
      context.disable();
      propagation.disable();
      await received[Symbol.asyncDispose]();
    },
  };
}

export async function otelLab(
  config: OtelConfig = {},
  options: TestHostOptions = {},
): Promise<OtelLab> {
  const sdk = await providers();
  const { received, tracerProvider, meterProvider, reader } = sdk;
  const extension = otel({ tracerProvider, meterProvider });
  const test = await startTestHost({
    ...options,
    grants: { ...grants, ...options.grants },
    extensions: [{ extension, config }, ...(options.extensions ?? [])],
  });
  return {
    ...{ test, received },
    spans: async () => {
      await tracerProvider.forceFlush();
      return received.spans;
    },
    flushMetrics: () => reader.forceFlush(),
    [Symbol.asyncDispose]: async () => {
      await test[Symbol.asyncDispose]();
      await sdk[Symbol.asyncDispose]();
    },
  };
}

/** An agent that calls a tool if it is asked for one, and that fails if it is told to. */
export function toolAgent(): AgentProvider {
  let calls = 0;
  return {
    id: 'acme',
    models: ['acme-1'],
    toolGate: 'enforce',
    async *run({ prompt, gate }) {
      yield { type: 'agent_start' };
      if (prompt.includes('fail')) throw new Error('the model is out of order: secret words');
      if (prompt.includes('tool')) {
        const city = prompt.includes('forbidden') ? 'Nowhere' : 'Rome';
        const call = { toolCallId: `call-${++calls}`, toolName: 'weather', args: { city } };
        yield { type: 'tool_execution_start', ...call };
        const { allowed } = await gate(call);
        const isError = !allowed || prompt.includes('broken');
        yield { type: 'tool_execution_end', ...call, result: 'sunny', isError };
      }
      const message = {
        role: 'assistant' as const,
        content: [{ type: 'text' as const, text: `answer to ${prompt}` }],
        model: 'acme-1',
      };
      yield { type: 'message_start', message };
      yield { type: 'message_end', message };
      const usage = { input: 10, output: 5, cacheRead: 2, cacheWrite: 1, totalTokens: 18 };
      yield { type: 'agent_end', messages: [message], usage };
    },
  };
}

/** Vetoes and a mutator, so that ways differ. */
export const guard = defineExtension({
  id: 'guard',
  setup(api) {
    api.veto('egress.preparing', 'hush', ({ payload }) =>
      payload.content.includes('hush')
        ? cancel('quiet-hours', { details: { guardrail: { name: 'hush', policyId: 'p-1' } } })
        : undefined,
    );
    api.veto('agent.tool.calling', 'no-tools', ({ payload }) =>
      payload.params['city'] === 'Nowhere' ? cancel('policy') : undefined,
    );
    api.mutate('egress.preparing', 'sign', ({ payload }) => ({ content: `${payload.content}.` }));
  },
});
