export * from '@sluice/sdk/stream';
