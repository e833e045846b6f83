export default { id: 'pigeon', register() {} };
