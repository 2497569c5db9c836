module.exports = globalThis.sharedModule('protobufjs/ext/protojson');
