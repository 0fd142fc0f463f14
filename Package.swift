// swift-tools-version:5.5
// machsym for Swift: see bindings/swift. The library in C is compiled from machsym.h; nothing is downloaded.
import PackageDescription

let package = Package(
    name: "machsym",
    products: [
        .library(name: "Machsym", targets: ["Machsym"])
    ],
    targets: [
        .target(
            name: "CMachsym",
            path: "bindings/swift/CMachsym",
            cSettings: [
                .headerSearchPath("../../.."), // machsym.h
                .define("_GNU_SOURCE", .when(platforms: [.linux])),
            ]
        ),
        .target(
            name: "Machsym",
            dependencies: ["CMachsym"],
            path: "bindings/swift/Machsym"
        ),
    ],
    cLanguageStandard: .c11
)
