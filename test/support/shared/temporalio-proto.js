module.exports = globalThis.sharedModule('@temporalio/proto');
