/**
 * The `_meta` of a call, with the `traceparent` of the span that it runs in: with `context: true` of `sluice-otel` that is the span of
 * the tool. Nothing without OpenTelemetry or without such a span.
 */
export async function traceMeta(): Promise<{ readonly _meta?: Record<string, string> }> {
  const carrier: Record<string, string> = {};
  try {
    const { context, propagation } = await import('@opentelemetry/api');
    propagation.inject(context.active(), carrier);
  } catch {
    return {}; // it is not installed
  }
  return Object.keys(carrier).length === 0 ? {} : { _meta: carrier };
}
