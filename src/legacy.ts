export * from '@sluice/openclaw';
