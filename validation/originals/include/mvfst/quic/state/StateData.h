// Stands in for the state of mvfst's connection: what Copa and the pacing rate read of it.
#pragma once
#include <quic/common/MvfstLogging.h>
#include <quic/state/AckEvent.h>
#include <memory>
namespace quic {

struct Pacer {
    virtual ~Pacer() = default;
    virtual void refreshPacingRate(uint64_t cwndBytes, std::chrono::microseconds rtt) = 0;
    virtual void onPacketsLoss() = 0;
};

struct PacingRate {
    std::chrono::microseconds interval{0};
    uint64_t burstSize = 0;

    struct Builder;
};

struct PacingRate::Builder {
    PacingRate rate;

    Builder &&setInterval(std::chrono::microseconds interval) &&
    {
        rate.interval = interval;
        return static_cast<Builder &&>(*this);
    }

    Builder &&setBurstSize(uint64_t packets) &&
    {
        rate.burstSize = packets;
        return static_cast<Builder &&>(*this);
    }

    PacingRate build() && { return rate; }
};

struct QuicConnectionStateBase {
    struct {
        uint64_t initCwndInMss = kInitCwndInMss;
        uint64_t minCwndInMss = kMinCwndInMss;
        uint64_t maxCwndInMss = kDefaultMaxCwndInMss;
        Optional<double> copaDeltaParam;
        bool copaUseRttStanding = false;
        std::chrono::microseconds pacingTickInterval = kDefaultPacingTickInterval;
        uint64_t writeConnectionDataPacketsLimit = kDefaultWriteConnectionDataPacketLimit;
        uint64_t minBurstPackets = kDefaultMinBurstPackets;
    } transportSettings;
    struct {
        std::chrono::microseconds lrtt{0}, srtt{0}, rttvar{0}, mrtt = kDefaultMinRtt;
        uint64_t inflightBytes = 0;
        uint32_t rtxCount = 0;
    } lossState;
    struct {
        uint64_t sumCurStreamBufferLen = 0;
    } flowControlState;
    uint64_t udpSendPacketLen = 0;
    std::unique_ptr<Pacer> pacer;
};

} // namespace quic
