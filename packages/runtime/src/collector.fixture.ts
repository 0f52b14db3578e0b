import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface SpanOfExport {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly links?: readonly { readonly spanId: string }[];
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly status?: { readonly code?: number };
}

interface Export {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly SpanOfExport[] }[];
  }[];
}

/** A collector that keeps the spans it gets. */
export async function openCollector() {
  const spans: SpanOfExport[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      const { resourceSpans } = JSON.parse(body) as Export;
      for (const { scopeSpans } of resourceSpans)
        for (const { spans: some } of scopeSpans) spans.push(...some);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { spans, close: () => void server.close(), endpoint: `http://127.0.0.1:${port}` };
}
