export * from '@sluice/sdk/extension';
