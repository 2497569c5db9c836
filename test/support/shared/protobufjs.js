module.exports = globalThis.sharedModule('protobufjs');
