import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface KeyValue {
  readonly key: string;
  readonly value: {
    readonly stringValue?: string;
    readonly intValue?: number;
    readonly doubleValue?: number;
    readonly boolValue?: boolean;
    readonly arrayValue?: { readonly values: readonly KeyValue['value'][] };
  };
}

/** A span as it came over the wire. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly KeyValue[];
  readonly events: readonly { readonly name: string; readonly attributes: readonly KeyValue[] }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code?: number };
}

/** A metric as it came over the wire. */
export interface ReceivedMetric {
  readonly name: string;
  readonly unit: string;
  readonly histogram?: { readonly dataPoints: readonly Point[] };
  readonly sum?: { readonly dataPoints: readonly Point[] };
  readonly gauge?: { readonly dataPoints: readonly Point[] };
}

interface Point {
  readonly attributes: readonly KeyValue[];
  readonly explicitBounds?: readonly number[];
  readonly asDouble?: number;
  readonly asInt?: number;
}

/** A receiver of OTLP over HTTP on this machine: it keeps what it is sent. */
export interface OtlpReceiver extends AsyncDisposable {
  readonly url: string;
  readonly spans: ReceivedSpan[];
  readonly metrics: ReceivedMetric[];
  /** Every text that was sent. */
  readonly bodies: string[];
}

export async function otlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const metrics: ReceivedMetric[] = [];
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer); // a server's stream has no other
    const text = Buffer.concat(chunks).toString();
    bodies.push(text);
    const body = JSON.parse(text);
    for (const resource of body.resourceSpans ?? [])
      for (const scope of resource.scopeSpans) spans.push(...scope.spans);
    for (const resource of body.resourceMetrics ?? [])
      for (const scope of resource.scopeMetrics) metrics.push(...scope.metrics);
    response.setHeader('content-type', 'application/json').end('{}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo; // it listens at a port
  return {
    url: `http://127.0.0.1:${port}`,
    ...{ spans, metrics, bodies },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Attributes as plain data. */
export function attributesOf(attributes: readonly KeyValue[]): Record<string, unknown> {
  const plain = (value: KeyValue['value']): unknown =>
    value.arrayValue?.values.map(plain) ??
    value.stringValue ??
    value.intValue ??
    value.doubleValue ??
    value.boolValue;
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]));
}
