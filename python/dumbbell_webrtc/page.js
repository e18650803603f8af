// One end of a call. The process that opens the page calls the functions of `peer`. Times are ms of performance.now().
"use strict";

const POLL_MS = 100;
const MARGIN_PX = 128; // the picture moves this far at most in each direction
const RADIUS_PX = 120;
const PERIOD_FRAMES = 30;

const FIELDS = {
  outbound: [
    "targetBitrate", "bytesSent", "packetsSent", "retransmittedBytesSent", "framesEncoded", "framesPerSecond", "frameWidth",
    "frameHeight", "qpSum", "totalEncodeTime", "totalPacketSendDelay", "nackCount", "pliCount", "qualityLimitationReason",
    "packetsSentWithEct1",
  ],
  pair: ["availableOutgoingBitrate", "currentRoundTripTime", "packetsDiscardedOnSend"],
  inbound: [
    "packetsReceived", "packetsLost", "bytesReceived", "jitterBufferDelay", "jitterBufferEmittedCount", "framesDecoded",
    "framesDropped", "framesPerSecond", "freezeCount", "totalFreezesDuration", "totalProcessingDelay",
    "packetsReceivedWithCe", "packetsReceivedWithEct1",
  ],
  remote: ["fractionLost", "roundTripTime"],
};

// Numbers in [0, 1) from a seed (xorshift of 32 bits): every run has equal pictures.
function randomNumbers(seed) {
  let state = (seed >>> 0) || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4294967296;
  };
}

// I420 frames of one period: a textured, noisy plane that moves on a circle.
function makeFrames({ width, height, noise, seed }) {
  const random = randomNumbers(seed);
  const planeWidth = width + 2 * MARGIN_PX;
  const planeHeight = height + 2 * MARGIN_PX;
  const plane = new Uint8ClampedArray(planeWidth * planeHeight);
  for (let y = 0; y < planeHeight; y++) {
    for (let x = 0; x < planeWidth; x++) {
      const texture = 128 + 50 * Math.sin(x / 37 + y / 91) + 30 * Math.sin(x / 7.3 - y / 11);
      plane[y * planeWidth + x] = texture + noise * (2 * random() - 1);
    }
  }
  const chroma = (width / 2) * (height / 2);
  return Array.from({ length: PERIOD_FRAMES }, (_, index) => {
    const angle = (2 * Math.PI * index) / PERIOD_FRAMES;
    const left = Math.round(MARGIN_PX + RADIUS_PX * Math.cos(angle));
    const top = Math.round(MARGIN_PX + RADIUS_PX * Math.sin(angle));
    const frame = new Uint8Array(width * height + 2 * chroma);
    for (let row = 0; row < height; row++) {
      const from = (top + row) * planeWidth + left;
      frame.set(plane.subarray(from, from + width), row * width);
    }
    frame.fill(118 + (index % 10), width * height, width * height + chroma);
    frame.fill(138 - (index % 10), width * height + chroma);
    return frame;
  });
}

const peer = {
  connection: null,
  records: [],
  states: [],
  source: null,
  timer: null,

  watch() {
    this.connection.onconnectionstatechange = () =>
      this.states.push({ at: performance.now(), state: this.connection.connectionState });
  },

  async gathered(timeout_ms) {
    const connection = this.connection;
    const complete = new Promise((resolve) => {
      const look = () => connection.iceGatheringState === "complete" && resolve();
      connection.addEventListener("icegatheringstatechange", look);
      look();
    });
    await Promise.race([complete, new Promise((resolve) => setTimeout(resolve, timeout_ms))]);
    return connection.localDescription.sdp;
  },

  // First step of the sender: create a moving picture, and an offer to send it.
  async offer({ width, height, fps, noise, seed, codec, maxBitrate, gather_ms }) {
    const frames = makeFrames({ width, height, noise, seed });
    const track = new MediaStreamTrackGenerator({ kind: "video" });
    this.source = { frames, width, height, fps, writer: track.writable.getWriter(), written: 0, skipped: 0 };
    this.connection = new RTCPeerConnection({ iceServers: [], bundlePolicy: "max-bundle" });
    this.watch();
    const encoding = { maxFramerate: fps };
    if (maxBitrate !== null) encoding.maxBitrate = maxBitrate;
    const transceiver = this.connection.addTransceiver(track, { direction: "sendonly", sendEncodings: [encoding] });
    const known = RTCRtpSender.getCapabilities("video").codecs;
    const wanted = known.filter((one) => one.mimeType === `video/${codec}`);
    if (wanted.length === 0) throw new Error(`the browser has no codec ${codec}`);
    transceiver.setCodecPreferences([...wanted, ...known.filter((one) => one.mimeType === "video/rtx")]);
    // without this the browser would shrink the picture instead of sending more
    const parameters = transceiver.sender.getParameters();
    parameters.degradationPreference = "maintain-resolution";
    await transceiver.sender.setParameters(parameters);
    await this.connection.setLocalDescription();
    return this.gathered(gather_ms);
  },

  // Only step of the receiver.
  async answer(offer, gather_ms) {
    this.connection = new RTCPeerConnection({ iceServers: [], bundlePolicy: "max-bundle" });
    this.watch();
    this.connection.ontrack = (event) => {
      const video = document.createElement("video");
      Object.assign(video, { muted: true, autoplay: true, playsInline: true, srcObject: new MediaStream([event.track]) });
      document.body.append(video);
    };
    await this.connection.setRemoteDescription({ type: "offer", sdp: offer });
    await this.connection.setLocalDescription();
    const sdp = await this.gathered(gather_ms);
    this.poll();
    return sdp;
  },

  // Last step of the sender: the call begins.
  async accept(answer) {
    this.poll();
    this.play();
    await this.connection.setRemoteDescription({ type: "answer", sdp: answer });
  },

  play() {
    const source = this.source;
    const begun = performance.now();
    let number = 0;
    const next = () => {
      // if the queue is full, nobody takes the pictures: waiting would only make them old
      if (source.writer.desiredSize <= 0) source.skipped++;
      else {
        const frame = new VideoFrame(source.frames[number % source.frames.length], {
          format: "I420",
          codedWidth: source.width,
          codedHeight: source.height,
          timestamp: Math.round((number * 1e6) / source.fps),
        });
        source.writer.write(frame).catch(() => {});
        source.written++;
      }
      number++;
      const late = Math.floor(((performance.now() - begun) * source.fps) / 1000) - number;
      if (late > 0) {
        source.skipped += late;
        number += late;
      }
      setTimeout(next, Math.max(0, begun + (number * 1000) / source.fps - performance.now()));
    };
    next();
  },

  poll() {
    let busy = false;
    this.timer = setInterval(async () => {
      if (busy) return;
      busy = true;
      try {
        this.records.push(await this.record());
      } finally {
        busy = false;
      }
    }, POLL_MS);
  },

  async record() {
    const record = { at: performance.now() };
    if (this.source) record.source = { written: this.source.written, skipped: this.source.skipped };
    const reports = await this.connection.getStats();
    const put = (kind, report) => {
      record[kind] = Object.fromEntries(FIELDS[kind].filter((name) => name in report).map((name) => [name, report[name]]));
    };
    for (const report of reports.values()) {
      if (report.type === "outbound-rtp" && report.kind === "video") put("outbound", report);
      else if (report.type === "inbound-rtp" && report.kind === "video") put("inbound", report);
      else if (report.type === "remote-inbound-rtp") put("remote", report);
      // a receiver sends no stream, so its estimate for its own direction means nothing
      else if (report.type === "candidate-pair" && report.nominated && this.source) put("pair", report);
    }
    return record;
  },

  // Returns the records and state changes since the last call.
  take() {
    const taken = { records: this.records, states: this.states, state: this.connection.connectionState };
    this.records = [];
    this.states = [];
    return taken;
  },
};
